//go:build !remotebox_runner

package daytona

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/command"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// runnerEntry is where the runner is in a build's context: below a name that no project has.
const runnerEntry = ".remote-box/runner"

// lineError is what is wrong with a Dockerfile.
type lineError struct {
	line int // 0 if it is none in particular
	text string
}

func (e *lineError) Error() string { return e.text }

// assemble makes the Dockerfile that Daytona builds: the user's with the runner as its last layer, or
// a base with it. COPY runs as root whatever USER says, and keeps the mode; the runner is linked
// statically. Without an ENTRYPOINT of ours Daytona would start the user's in every sandbox. What is in
// the instructions is Daytona's to understand; that they are some is looked at here. The error is a
// *lineError.
func assemble(dockerfile []byte, base string) (string, error) {
	const runner = "COPY " + runnerEntry + " " + runnerPath + "\nENTRYPOINT [\"sleep\", \"infinity\"]\n"
	if dockerfile == nil {
		return "FROM " + base + "\n" + runner, nil
	}
	lines, err := instructions(dockerfile)
	if err != nil {
		return "", err
	}
	from := false
	for _, n := range lines {
		name := strings.ToLower(n.Value)
		if _, known := command.Commands[name]; !known {
			return "", &lineError{n.StartLine, fmt.Sprintf("there is no instruction %s", strings.ToUpper(name))}
		}
		if from = from || name == command.From; !from && name != command.Arg {
			return "", &lineError{n.StartLine, fmt.Sprintf("%s stands before FROM", strings.ToUpper(name))}
		}
	}
	if !from {
		return "", &lineError{0, "it has no FROM"}
	}
	text := strings.TrimRight(string(bytes.TrimPrefix(dockerfile, []byte("\xef\xbb\xbf"))), "\r\n") + "\n" + runner
	// An instruction that goes on at the end of the file would swallow what was added.
	if all, err := instructions([]byte(text)); err != nil || len(all) != len(lines)+2 {
		return "", &lineError{lines[len(lines)-1].StartLine, "the last instruction does not end"}
	}
	return text, nil
}

// instructions finds the instructions of a Dockerfile. Its error is a *lineError.
func instructions(dockerfile []byte) ([]*parser.Node, error) {
	parsed, err := parser.Parse(bytes.NewReader(dockerfile))
	if err == nil {
		return parsed.AST.Children, nil
	}
	e := &lineError{text: err.Error()}
	if at, ok := errors.AsType[*parser.LocationError](err); ok && len(at.Locations) > 0 && len(at.Locations[0]) > 0 {
		e.line = at.Locations[0][0].Start.Line
	}
	return nil, e
}

var (
	stepLine  = regexp.MustCompile(`(?m)^Step (\d+)/\d+ :`)
	errorLine = regexp.MustCompile(`(?i)dockerfile parse error (?:on )?line (\d+)`)
)

// failedLine is the line of the user's Dockerfile that a build failed at, or 0: the builder names it,
// or the log ends in its step.
func failedLine(dockerfile []byte, reason, log string) int {
	for _, text := range []string{reason, log} {
		if m := errorLine.FindStringSubmatch(text); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n <= bytes.Count(dockerfile, []byte("\n"))+1 {
				return n
			}
		}
	}
	steps := stepLine.FindAllStringSubmatch(log, -1)
	lines, err := instructions(dockerfile)
	if err != nil || len(steps) == 0 {
		return 0
	}
	if n, err := strconv.Atoi(steps[len(steps)-1][1]); err == nil && n >= 1 && n <= len(lines) {
		return lines[n-1].StartLine
	}
	return 0
}
