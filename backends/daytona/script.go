//go:build !remotebox_runner

package daytona

import (
	"fmt"
	"slices"
	"strings"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/proc"
)

// runnerPath is where the runner is in a sandbox.
const runnerPath = "/opt/remote-box/runner"

// Shell scripts that a sandbox is given are single lines: some servers hang on others. A newline is
// the variable $n, which newline defines.
const newline = `n=$(printf '\nx'); n=${n%x}`

// quote makes text one word of the shell.
func quote(text string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "\n", `'"$n"'`).Replace(text) + "'"
}

// script is the shell's form of a command that reads the file stdin, which goes away with that, or
// nothing. Its processes carry tag in their environment, so that they can be found and killed.
func (s *sandbox) script(cmd *driver.Command, stdin, tag string) string {
	var b strings.Builder
	if stdin != "" {
		fmt.Fprintf(&b, "exec <%s && rm -f %[1]s && ", quote(stdin))
	}
	if cmd.Dir != "" {
		fmt.Fprintf(&b, "cd -- %s && ", quote(cmd.Dir))
	}
	b.WriteString("exec env ")
	b.WriteString(quote(proc.CallTag + "=" + tag))
	if cmd.Args[0] == driver.RunnerArg && s.memory > 0 {
		// The kernel kills what takes more than the sandbox has, and with it all of the sandbox's
		// processes; Go would let garbage grow past that. The limit is a soft one, so that it does
		// no harm in children that inherit it. The number of processors needs no variable: Go
		// sees the sandbox's share of them.
		fmt.Fprintf(&b, ` "GOMEMLIMIT=${GOMEMLIMIT:-%dMiB}"`, s.memory*7/8)
	}
	names := make([]string, 0, len(s.backend.Env))
	for name := range s.backend.Env {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.WriteString(" " + quote(name+"="+s.backend.Env[name]))
	}
	for _, v := range cmd.Env {
		b.WriteString(" " + quote(v))
	}
	for i, arg := range cmd.Args {
		if i == 0 && arg == driver.RunnerArg {
			arg = runnerPath
		}
		b.WriteString(" " + quote(arg))
	}
	return b.String()
}

// beginMark is the line that says that a command of the loop begins: what stands before it in the log
// is not the command's.
func beginMark(tag string) string { return "~rbb " + tag + "\n" }

// endMark begins the line that says how a command has ended.
func endMark(tag string) string { return "~rbx " + tag + " " }

// report prints how the command tag has ended, to both streams: Daytona passes them on one by one,
// so that each needs an end of its own.
func report(tag string) string {
	line := `printf '\n~rbx %s %s\n' ` + tag + ` "$s"`
	return "s=$?; " + line + "; " + line + " >&2"
}

// announce prints that the command tag begins, to both streams.
func announce(tag string) string {
	line := `printf '\n~rbb %s\n' ` + tag
	return line + "; " + line + " >&2"
}

// quietly runs a script in a subshell without input, and without what the shell has to say about its
// end: some print the whole command when it was killed. The redirections stand inside, because dash
// forgets those behind a subshell in braces.
func quietly(script string) string {
	return "{ (exec </dev/null 2>&3 3>&-; " + script + "); } 3>&2 2>/dev/null"
}

// singleScript runs one command, unless the session's shell has run it before.
func singleScript(script, tag string) string {
	return `[ "$t" = ` + tag + " ] || { t=" + tag + "; " + newline + "; " + quietly(script) + "; " + report(tag) + "; }"
}

// loopScript runs the commands that it reads, one after the other, as line makes them. The tag of each
// is the loop's with its number behind it. A command is run if it has the next number: one that
// arrives twice is run once, and what is left of its second copy begins with no such number.
func loopScript(tag string) string {
	return newline + `; l=0; while IFS=' ' read -r q k c; do [ "$q" = end ] && exit; [ "$q" = "$((l+1))" ] || continue; l=$q; ` +
		`[ "$k" = - ] || c=$(head -c "$k"); ` + announce(tag+`x"$q"`) + "; " + quietly(`eval "$c"`) + "; " + report(tag+`x"$q"`) + "; done"
}

// lastLine ends the loop and its shell.
const lastLine = "end\n"

// maxLine is the longest script that is a line of the loop's input: shells read lines byte by byte.
const maxLine = 2 << 10

// line is a script as the loop reads it: in a line with its number, or after one that says how long
// it is, its newline included. The head command of some systems reads more than it is told to; the
// next command is sent when this one has ended.
func line(number int, script string) string {
	if len(script) <= maxLine {
		return fmt.Sprintf("%d - %s\n", number, script)
	}
	return fmt.Sprintf("%d %d\n%s\n", number, len(script)+1, script)
}
