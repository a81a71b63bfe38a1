//go:build !remotebox_runner

package dockerfile

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

// Dockerfile is a translated Dockerfile.
type Dockerfile struct {
	From     string // the base image
	FromLine int
	Steps    []Step
	Warnings []Warning
}

// Step is one of E2B's build steps (E2B API, TemplateStep).
type Step struct {
	Type string // RUN, ENV, USER, WORKDIR or COPY
	Args []string
	Line int
	// Text is the instruction as it stands in the Dockerfile.
	Text string
	// Copy is set for COPY, whose Args follow from the files that match.
	Copy *Copy
}

// Copy is a COPY or an ADD of files.
type Copy struct {
	Sources []string // relative to the context, may hold patterns of path.Match; "" is the context
	Inline  []File   // here-documents
	Dest    string   // absolute; with a slash at its end if it is to be a directory
	Owner   string   // user:group
	Mode    string   // octal, or "" for the files' own
}

// File is a file whose content stands in the Dockerfile.
type File struct {
	Name string
	Data []byte
}

// Warning is something that means less on E2B than in Docker.
type Warning struct {
	Line int
	Text string
}

// Error is something that can't be translated.
type Error struct {
	Line   int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// translator is a Dockerfile that has been translated up to some line.
type translator struct {
	out     *Dockerfile
	lex     *shell.Lex
	line    int
	text    string
	global  variables // ARGs before FROM
	args    variables // ARGs of the stage, for commands
	env     variables // ENVs
	shell   []string
	workdir string
	user    string // "" before USER
	staged  bool   // FROM has been seen
	// declared are arguments without a value.
	declared map[string]bool
	placed   bool // WORKDIR has been seen
}

// Translate translates a Dockerfile. Its error is an *Error.
func Translate(src []byte) (*Dockerfile, error) {
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return nil, &Error{1 + bytes.Count(src[:i], []byte("\n")), "a NUL character"}
	}
	parsed, err := parser.Parse(bytes.NewReader(src))
	if err != nil {
		line := 0
		if at, ok := errors.AsType[*parser.LocationError](err); ok && len(at.Locations) > 0 && len(at.Locations[0]) > 0 {
			line = at.Locations[0][0].Start.Line
		}
		return nil, &Error{line, err.Error()}
	}
	t := &translator{
		out: &Dockerfile{}, lex: shell.NewLex(parsed.EscapeToken),
		shell: []string{"/bin/sh", "-c"}, workdir: "/", declared: map[string]bool{},
	}
	for _, n := range parsed.AST.Children {
		t.line, t.text = n.StartLine, n.Original
		if err := t.instruction(n); err != nil {
			if e, ok := errors.AsType[*Error](err); ok {
				return nil, e
			}
			return nil, &Error{t.line, err.Error()}
		}
	}
	if !t.staged {
		return nil, &Error{0, "there is no FROM"}
	}
	t.forgotten()
	return t.out, nil
}

// forgotten says what of the base image's own configuration does not count.
func (t *translator) forgotten() {
	t.line = t.out.FromLine
	if t.user == "" {
		t.warn("commands and functions are root's, even if the base image has another USER; write USER if it should count")
	}
	if !t.placed {
		t.warn("the directory is /, even if the base image has another WORKDIR; write WORKDIR if it should count")
	}
}

func (t *translator) fail(format string, args ...any) error {
	return &Error{t.line, fmt.Sprintf(format, args...)}
}

func (t *translator) warn(format string, args ...any) {
	t.out.Warnings = append(t.out.Warnings, Warning{t.line, fmt.Sprintf(format, args...)})
}

func (t *translator) step(kind string, args ...string) {
	t.out.Steps = append(t.out.Steps, Step{Type: kind, Args: args, Line: t.line, Text: t.text})
}

// words are the arguments of an instruction.
func words(n *parser.Node) []string {
	var list []string
	for a := n.Next; a != nil; a = a.Next {
		list = append(list, a.Value)
	}
	return list
}

func (t *translator) instruction(n *parser.Node) error {
	kind := strings.ToUpper(n.Value)
	if !t.staged && kind != "FROM" && kind != "ARG" {
		return t.fail("%s before FROM", kind)
	}
	args := words(n)
	switch kind {
	case "RUN", "COPY", "ADD", "FROM":
	case "HEALTHCHECK": // its flags are ignored with it
	default:
		if len(n.Flags) > 0 {
			return t.fail("%s has no flag %s", kind, n.Flags[0])
		}
	}
	switch kind {
	case "FROM":
		return t.from(n.Flags, args)
	case "ARG":
		return t.arg(args)
	case "ENV":
		return t.setEnv(args)
	case "RUN":
		return t.run(n, args)
	case "COPY", "ADD":
		return t.copy(kind, n, args)
	case "WORKDIR":
		return t.setWorkdir(args)
	case "USER":
		return t.setUser(args)
	case "SHELL":
		if !n.Attributes["json"] || len(args) == 0 {
			return t.fail(`SHELL needs a list such as ["/bin/bash", "-c"]`)
		}
		t.shell = args
	case "CMD", "ENTRYPOINT":
		t.warn("%s does not run: a sandbox waits for calls; use StartCmd for what is to run beside them", kind)
	case "EXPOSE", "LABEL", "MAINTAINER", "STOPSIGNAL", "HEALTHCHECK", "ONBUILD":
		// Nothing that a sandbox's files or processes show.
	case "VOLUME":
		t.warn("VOLUME is ignored: a sandbox's files are its own anyway")
	default:
		return t.fail("unknown instruction %s", kind)
	}
	return nil
}

// from begins the only stage. What an image's own configuration says about user and directory is
// not known here; as E2B's builder does, it begins as root.
func (t *translator) from(flags, args []string) error {
	if t.staged {
		return t.fail("a second FROM: E2B builds one stage only; build the other image elsewhere and push it, or copy its files into the context")
	}
	for _, f := range flags {
		value, ok := strings.CutPrefix(f, "--platform=")
		if !ok {
			return t.fail("FROM has no flag %s", f)
		}
		platform, err := t.expand(value, t.globals())
		if err != nil {
			return err
		}
		if platform != "linux/amd64" && platform != "linux/x86_64" {
			return t.fail("the platform %s: E2B's sandboxes are linux/amd64", platform)
		}
	}
	if len(args) != 1 && (len(args) != 3 || !strings.EqualFold(args[1], "as")) {
		return t.fail("FROM takes an image, or an image AS a name")
	}
	image, unset, err := t.lex.ProcessWord(args[0], t.globals())
	if err != nil {
		return err
	}
	if name, ok := t.missing(unset); ok {
		return t.fail("FROM %s names no image: $%s is not set; give it a value by ARG before FROM", args[0], name)
	}
	switch {
	case image == "" || strings.HasSuffix(image, ":") || strings.HasSuffix(image, "@") || strings.HasSuffix(image, "/"):
		return t.fail("FROM %s names no image: it becomes %q", args[0], image)
	case image == "scratch":
		return t.fail("FROM scratch: E2B needs an image with bash and a package manager")
	case strings.ContainsAny(image, " \t\n"):
		return t.fail("FROM %q names no image", image)
	}
	t.staged, t.declared = true, map[string]bool{}
	t.out.From, t.out.FromLine = image, t.line
	t.step("USER", "root")
	t.step("WORKDIR", "/")
	return nil
}

func (t *translator) setWorkdir(args []string) error {
	if len(args) != 1 {
		return t.fail("WORKDIR takes one path")
	}
	dir, err := t.expand(args[0], t.known())
	if err != nil {
		return err
	}
	if dir == "" {
		return t.fail("WORKDIR %s is empty", args[0])
	}
	if !path.IsAbs(dir) {
		dir = path.Join(t.workdir, dir)
	}
	dir = path.Clean(dir)
	if err := t.safe("the directory", dir); err != nil {
		return err
	}
	t.workdir, t.placed = dir, true
	t.step("WORKDIR", dir)
	return nil
}

// setUser sets the user. E2B's agent knows users by their names only.
func (t *translator) setUser(args []string) error {
	if len(args) != 1 {
		return t.fail("USER takes one user")
	}
	user, err := t.expand(args[0], t.known())
	if err != nil {
		return err
	}
	name, group, grouped := strings.Cut(user, ":")
	if name == "0" {
		name = "root"
	}
	if group == "0" {
		group = "root"
	}
	switch {
	case name == "":
		return t.fail("USER %s is empty", args[0])
	case strings.Trim(name, "0123456789") == "":
		return t.fail("USER %s: E2B knows users by name only; make one with RUN useradd and name it", name)
	case !validName(name):
		return t.fail("USER %q is no name of a user", name)
	case grouped && group != name:
		return t.fail("USER %s: on E2B a user runs with the user's own group; make it the user's group with RUN usermod", user)
	}
	t.user = name
	t.step("USER", name)
	return nil
}

func validName(name string) bool {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	return strings.Trim(name, chars) == "" && !strings.HasPrefix(name, "-")
}

// safe refuses paths that E2B's builder would not take as they are: it writes them into a script,
// between double quotes.
func (t *translator) safe(what, path string) error {
	if strings.ContainsAny(path, "\"$`\\\n\r\x00") {
		return t.fail("%s %q: E2B's builder can't take quotes, $, ` and \\ in it", what, path)
	}
	return nil
}
