// Package examples holds one story a folder. Each runs on the subprocess backend with nothing but
// Go; this test runs them all as a user would.
package examples

import (
	"bytes"
	"os/exec"
	"testing"
)

func TestExamples(t *testing.T) {
	for _, c := range []struct{ dir, want string }{
		{"quickstart", "Hello World!\n"},
		{"session", "a pause keeps: None\nwritten by the first process\nand by the second\n"},
		{"tooldecorator", "approve count_words {\"text\":\"to be or not to be\"}?\n{\"words\":6}\napprove delete_file {\"path\":\"/etc/passwd\"}?\ndenied\n"},
		{"daytona", "1 the door is open\n2 the light is on\n"},
		{"e2b", "0 \n0 42\n3 this goes wrong\n"},
	} {
		t.Run(c.dir, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "go", "run", "./"+c.dir)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			if string(out) != c.want {
				t.Errorf("it printed\n%s\nnot\n%s", out, c.want)
			}
		})
	}
}
