//go:build !remotebox_runner

package daytonatest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// instruction is one line of a Dockerfile.
type instruction struct {
	line  int
	name  string // upper case
	flags map[string]string
	rest  string   // what follows the flags
	exec  []string // rest, when it is a JSON array
	here  string   // the body of a here-document
}

// text is the instruction as it is printed.
func (in instruction) text() string { return in.name + " " + in.rest }

// args are rest's words, or the elements of the array.
func (in instruction) args() []string {
	if in.exec != nil {
		return in.exec
	}
	return strings.Fields(in.rest)
}

// parseDockerfile reads the part of the language that builds use: continuation lines, comments, flags, exec form and
// here-documents of RUN.
func parseDockerfile(text string) ([]instruction, error) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var out []instruction
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := i + 1
		for strings.HasSuffix(line, "\\") && i+1 < len(lines) {
			i++
			if next := strings.TrimSpace(lines[i]); next != "" && !strings.HasPrefix(next, "#") {
				line = strings.TrimSuffix(line, "\\") + next
			}
		}
		name, rest, _ := strings.Cut(line, " ")
		in := instruction{line: at, name: strings.ToUpper(name), flags: map[string]string{}, rest: strings.TrimSpace(rest)}
		if !known(in.name) {
			return nil, fmt.Errorf("dockerfile parse error line %d: unknown instruction: %s", at, in.name)
		}
		for strings.HasPrefix(in.rest, "--") {
			flag, rest, _ := strings.Cut(in.rest, " ")
			k, v, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			in.flags[k], in.rest = v, strings.TrimSpace(rest)
		}
		if strings.HasPrefix(in.rest, "[") {
			_ = json.Unmarshal([]byte(in.rest), &in.exec) // not an array: then it is shell form
		}
		if mark, ok := strings.CutPrefix(in.rest, "<<"); ok && in.name == "RUN" {
			mark = strings.Trim(strings.TrimPrefix(mark, "-"), `"'`)
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != mark; i++ {
				in.here += lines[i] + "\n"
			}
		}
		out = append(out, in)
	}
	for _, in := range out {
		switch in.name {
		case "ARG":
			continue
		case "FROM":
			return out, nil
		}
		break
	}
	return nil, fmt.Errorf("no build stage in current context")
}

func known(name string) bool {
	switch name {
	case "FROM", "RUN", "COPY", "ADD", "ENV", "ARG", "WORKDIR", "USER", "ENTRYPOINT", "CMD", "LABEL", "EXPOSE", "VOLUME", "SHELL", "STOPSIGNAL", "HEALTHCHECK", "ONBUILD", "MAINTAINER":
		return true
	}
	return false
}

// pairs reads "K=V K2="a b"", and the older "K V".
func pairs(text string) [][2]string {
	if k, v, ok := strings.Cut(text, " "); ok && !strings.Contains(k, "=") {
		return [][2]string{{k, strings.TrimSpace(v)}}
	}
	var out [][2]string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		k, rest, _ := strings.Cut(text, "=")
		var v strings.Builder
		i, quote := 0, byte(0)
		for ; i < len(rest); i++ {
			c := rest[i]
			switch {
			case c == '\\' && quote != '\'' && i+1 < len(rest):
				i++
				v.WriteByte(rest[i])
			case quote == 0 && (c == '"' || c == '\''):
				quote = c
			case quote != 0 && c == quote:
				quote = 0
			case quote == 0 && (c == ' ' || c == '\t'):
				goto done
			default:
				v.WriteByte(c)
			}
		}
	done:
		out = append(out, [2]string{k, v.String()})
		text = rest[i:]
	}
	return out
}

// expand replaces $K, ${K}, ${K:-default} and ${K:+other}.
func expand(text string, vars map[string]string) string {
	return os.Expand(text, func(name string) string {
		if k, fallback, ok := strings.Cut(name, ":-"); ok {
			if v := vars[k]; v != "" {
				return v
			}
			return fallback
		}
		if k, other, ok := strings.Cut(name, ":+"); ok {
			if vars[k] != "" {
				return other
			}
			return ""
		}
		return vars[name]
	})
}
