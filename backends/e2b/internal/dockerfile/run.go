//go:build !remotebox_runner

package dockerfile

import (
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// run translates a command. E2B's builder runs it by a login shell, which may put the system's PATH
// in place of the image's, and knows neither ARG nor SHELL: that is mended first, and then the
// Dockerfile's own shell takes over.
func (t *translator) run(n *parser.Node, args []string) error {
	for _, f := range n.Flags {
		if f == "--network=default" || f == "--security=sandbox" {
			continue
		}
		name, _, _ := strings.Cut(f, "=")
		return t.fail("RUN %s: E2B's builder has no mounts, networks or privileges to choose", name)
	}
	if len(args) == 0 || args[0] == "" && len(args) == 1 {
		return t.fail("RUN takes a command")
	}
	command, err := t.command(n, args)
	if err != nil {
		return err
	}
	t.step("RUN", t.prologue()+"exec "+command)
	return nil
}

// command is what is executed, quoted.
func (t *translator) command(n *parser.Node, args []string) (string, error) {
	if n.Attributes["json"] {
		return quoteAll(args), nil
	}
	script := args[0]
	if len(n.Heredocs) > 0 {
		if doc := parser.MustParseHeredoc(script); doc != nil {
			// The document alone is the script.
			content := content(&n.Heredocs[0])
			if strings.HasPrefix(content, "#!") {
				return quoteAll([]string{"/bin/sh", "-c", shebang, "sh", content}), nil
			}
			script = content
		} else {
			for _, d := range n.Heredocs {
				script += "\n" + d.Content + d.Name
			}
		}
	}
	return quoteAll(append(append([]string{}, t.shell...), script)), nil
}

// shebang runs a script that names its interpreter, without a variable of its own.
const shebang = `set -- "$1" "$(mktemp)" && printf '%s' "$1" >"$2" && chmod 0755 "$2" && "$2"; set -- "$?" "$2"; rm -f "$2"; exit "$1"`

// content is a here-document's text.
func content(d *parser.Heredoc) string {
	if d.Chomp {
		return parser.ChompHeredocContent(d.Content)
	}
	return d.Content
}

// prologue gives the command the environment that it would have had in Docker. What the login shell
// was started with is still to be read in /proc.
func (t *translator) prologue() string {
	var b strings.Builder
	b.WriteString(ownPath)
	for _, a := range t.args {
		if _, set := t.env.Get(a.name); !set && shellName(a.name) {
			b.WriteString("export " + a.name + "=" + quote(a.value) + "; ")
		}
	}
	return b.String()
}

// ownPath gives a login shell the PATH back that it was started with. It sets no variable besides: any
// name may be one of the image's.
const ownPath = `set -- "$(tr '\0' '\n' </proc/$$/environ 2>/dev/null | sed -n 's/^PATH=//p' | tail -n 1)"; [ -z "$1" ] || export PATH="$1"; set --; `

// shellName reports whether a shell can export the name.
func shellName(name string) bool { return !strings.ContainsAny(name, ".-") }

func quoteAll(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return strings.Join(quoted, " ")
}

// Command is a command of the builder's shell that executes args.
func Command(args ...string) string { return "exec " + quoteAll(args) }

// quote quotes a word for a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
