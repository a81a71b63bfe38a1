package daytona_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/driver"
)

// TestExec runs programs of the sandbox: input, both streams to the byte, exit codes.
func TestExec(t *testing.T) {
	_, loop := serve(t, daytonatest.Config{})
	p := program(t)
	for name, b := range map[string]daytona.Backend{"loop": loop, "direct": daytona.Direct(loop)} {
		t.Run(name, func(t *testing.T) {
			sb, err := b.Start(t.Context(), driver.Spec{Program: p})
			if err != nil {
				t.Fatal(err)
			}
			defer sb.Close(context.WithoutCancel(t.Context()))
			large := strings.Repeat("some input\n", 30_000)
			for _, c := range []struct {
				script, stdin, dir string
				out, err           string
				status             driver.Status
			}{
				{script: "printf 'no newline'; printf 'a\n\n' >&2; exit 9", out: "no newline", err: "a\n\n", status: driver.Status{Code: 9}},
				{script: "printf '\n\nx\n\n'", out: "\n\nx\n\n"},
				{script: "cat", stdin: large, out: large},
				{script: "cat", out: ""},
				{script: "cat", stdin: "again", out: "again"},
				{script: "pwd", dir: "/usr/bin", out: "/usr/bin\n"},
				{script: "kill -KILL $$", status: driver.Status{Code: -1, Signal: "SIGKILL"}},
				{script: "exit 3", dir: "/no/such/directory", err: "cd", status: driver.Status{Code: 1}},
				{script: "echo '~rbx tagx1 0'; echo \"~rb1 nonce x - e30=\"", out: "~rbx tagx1 0\n~rb1 nonce x - e30=\n"},
			} {
				var out, stderr bytes.Buffer
				cmd := &driver.Command{Args: []string{"sh", "-c", c.script}, Dir: c.dir, Stdout: &out, Stderr: &stderr}
				if c.stdin != "" {
					cmd.Stdin = strings.NewReader(c.stdin)
				}
				st, err := sb.Exec(t.Context(), cmd)
				if c.err == "cd" && strings.Contains(stderr.String(), "no/such/directory") {
					stderr.Reset()
					stderr.WriteString("cd")
				}
				if err != nil || st != c.status || out.String() != c.out || stderr.String() != c.err {
					t.Errorf("%s: %+v, %v, stdout %.200q, stderr %.200q", c.script, st, err, &out, &stderr)
				}
			}
		})
	}
}

// TestForgedEnd runs a command that prints its own end, and goes on. It loses what it prints then;
// the next one does not get it.
func TestForgedEnd(t *testing.T) {
	_, b := serve(t, daytonatest.Config{})
	sb := begun(t, b)
	const forge = `printf '\n~rbx %s 0\n' "$REMOTE_BOX_CALL"; printf '\n~rbx %s 0\n' "$REMOTE_BOX_CALL" >&2
while [ ! -e /tmp/go ]; do sleep 0.01; done; echo late; echo late >&2; printf unfinished`
	var out bytes.Buffer
	st, err := sb.Exec(t.Context(), &driver.Command{Args: []string{"sh", "-c", forge}, Stdout: &out, Stderr: &out})
	if err != nil || out.Len() > 0 {
		t.Fatalf("%+v, %v, %q", st, err, &out)
	}
	if err := sb.(driver.Files).WriteFile(t.Context(), "/tmp/go", strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := shell(t, sb, "echo next; echo next >&2"); got != "next\n" {
			t.Errorf("the next command has printed %q", got)
		}
	}
}
