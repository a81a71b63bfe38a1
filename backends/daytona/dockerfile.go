//go:build !remotebox_runner

package daytona

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// runnerEntry is where the runner is in a build's context: below a name that no project has.
const runnerEntry = ".remote-box/runner"

// assemble makes the Dockerfile that Daytona builds: the user's with the runner as its last layer, or
// a base with it. COPY runs as root whatever USER says, and keeps the mode; the runner is linked
// statically. Without an ENTRYPOINT of ours Daytona would start the user's in every sandbox.
func assemble(dockerfile []byte, base string) (string, error) {
	const runner = "COPY " + runnerEntry + " " + runnerPath + "\nENTRYPOINT [\"sleep\", \"infinity\"]\n"
	if dockerfile == nil {
		return "FROM " + base + "\n" + runner, nil
	}
	lines := instructions(dockerfile)
	if len(lines) == 0 {
		return "", fmt.Errorf("a Dockerfile without any instruction")
	}
	last := lines[len(lines)-1]
	if last.open {
		return "", fmt.Errorf("line %d: the last instruction does not end", last.line)
	}
	text := string(bytes.TrimPrefix(dockerfile, []byte("\xef\xbb\xbf")))
	return strings.TrimRight(text, "\r\n") + "\n" + runner, nil
}

// instruction is where an instruction of a Dockerfile begins.
type instruction struct {
	line int
	name string
	open bool // it goes on at the end of the file
}

var (
	escapeDirective = regexp.MustCompile("(?i)^#[ \t]*escape[ \t]*=[ \t]*([`\\\\])[ \t]*$")
	anyDirective    = regexp.MustCompile(`^#[ \t]*[A-Za-z]+[ \t]*=`)
	heredoc         = regexp.MustCompile(`<<-?["']?([A-Za-z_][A-Za-z0-9_]*)["']?`)
)

// instructions finds the instructions of a Dockerfile, no more: what is in them is Daytona's to
// understand.
func instructions(dockerfile []byte) []instruction {
	var found []instruction
	escape, directives := `\`, true
	lines := strings.Split(string(dockerfile), "\n")
	for i := 0; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		if directives {
			if m := escapeDirective.FindStringSubmatch(text); m != nil {
				escape = m[1]
			}
			directives = anyDirective.MatchString(text)
		}
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		name, _, _ := strings.Cut(text, " ")
		in := instruction{line: i + 1, name: strings.ToUpper(name)}
		whole := text
		for strings.HasSuffix(text, escape) {
			if i++; i == len(lines) {
				in.open = true
				break
			}
			next := strings.TrimSpace(lines[i])
			if next == "" || strings.HasPrefix(next, "#") {
				in.open = i == len(lines)-1
				continue // comments do not end it
			}
			text, whole = next, whole+next
		}
		if in.name == "RUN" || in.name == "COPY" || in.name == "ADD" {
			for _, m := range heredoc.FindAllStringSubmatch(whole, -1) {
				for i++; i < len(lines) && strings.TrimSpace(lines[i]) != m[1]; i++ {
				}
				in.open = in.open || i >= len(lines)
			}
		}
		found = append(found, in)
	}
	return found
}

var (
	stepLine  = regexp.MustCompile(`(?m)^Step (\d+)/\d+ :`)
	errorLine = regexp.MustCompile(`(?i)dockerfile parse error (?:on )?line (\d+)`)
)

// failedLine is the line of the user's Dockerfile that a build failed at, or 0: the builder names it,
// or the log ends in its step.
func failedLine(dockerfile []byte, reason, log string) int {
	lines := instructions(dockerfile)
	for _, text := range []string{reason, log} {
		if m := errorLine.FindStringSubmatch(text); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n <= bytes.Count(dockerfile, []byte("\n"))+1 {
				return n
			}
		}
	}
	steps := stepLine.FindAllStringSubmatch(log, -1)
	if len(steps) == 0 {
		return 0
	}
	if n, err := strconv.Atoi(steps[len(steps)-1][1]); err == nil && n >= 1 && n <= len(lines) {
		return lines[n-1].line
	}
	return 0
}
