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
