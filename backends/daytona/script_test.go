package daytona

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/needs"
)

// shells are those of this machine that a sandbox might have.
func shells(t *testing.T) []string {
	var found []string
	for _, name := range []string{"sh", "dash", "bash", "zsh", "busybox"} {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	if len(found) == 0 {
		needs.Missing(t, "there is no shell")
	}
	return found
}

func shell(t *testing.T, path, stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	if strings.HasSuffix(path, "busybox") {
		args = append([]string{"sh"}, args...)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	var out, err bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &err
	if e := cmd.Run(); e != nil {
		t.Errorf("%s: %v: %s", path, e, &err)
	}
	return out.String(), err.String()
}

// TestScripts runs scripts in every shell that is there.
func TestScripts(t *testing.T) {
	text := "it's \"quoted\" $HOME `date` \\ * \n two\n\nlines ✓ \t!"
	s := &sandbox{backend: Backend{Env: map[string]string{"A": text}}}
	script := s.script(&driver.Command{Args: []string{"sh", "-c", `printf '%s|%s|%s|' "$A" "$B" "$1"; pwd; cat; echo err >&2; exit 3`, "sh", text}, Env: []string{"B=" + text}, Dir: "/"}, "", "tag")
	want := text + "|" + text + "|" + text + "|/\n"
	for _, sh := range shells(t) {
		t.Run(sh, func(t *testing.T) {
			single := singleScript(script, "tag")
			if strings.Contains(single, "\n") {
				t.Errorf("a script of several lines: %q", single)
			}
			out, err := shell(t, sh, "not for the command", "-c", single)
			if out != want+"\n~rbx tag 3\n" || err != "err\n\n~rbx tag 3\n" {
				t.Errorf("stdout %q, stderr %q", out, err)
			}
		})
	}
}

// TestLoop gives the loop commands of every length, each more than once.
func TestLoop(t *testing.T) {
	for _, sh := range shells(t) {
		t.Run(sh, func(t *testing.T) {
			args := []string{"-c", loopScript("tag")}
			if strings.HasSuffix(sh, "busybox") {
				args = append([]string{"sh"}, args...)
			}
			cmd := exec.CommandContext(t.Context(), sh, args...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdin, err1 := cmd.StdinPipe()
			stdout, err2 := cmd.StdoutPipe()
			if err := errors.Join(err1, err2, cmd.Start()); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(stdout)
			for i, size := range []int{0, 1, 100, maxLine - 6, maxLine - 5, maxLine - 4, 5000, 60_000, 90_000} {
				script := "cat; echo " + strings.Repeat("x", size) + "; exit 3"
				in := strings.Repeat(line(i+1, script), i%3+1)
				wrote := make(chan error, 1)
				go func() {
					_, err := io.WriteString(stdin, in)
					wrote <- err
				}()
				for _, want := range []string{"", fmt.Sprintf("~rbb tagx%d", i+1), strings.Repeat("x", size), "", fmt.Sprintf("~rbx tagx%d 3", i+1)} {
					if got, err := r.ReadString('\n'); err != nil || got != want+"\n" {
						t.Fatalf("size %d: %.100q, %v, want %.100q", size, got, err, want)
					}
				}
				if err := <-wrote; err != nil {
					t.Fatal(err)
				}
			}
			stdin.Close()
			if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
				t.Errorf("something was run twice: %.100q, %v", rest, err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, &stderr)
			}
			if strings.Trim(strings.NewReplacer("~rbx tagx", "", "~rbb tagx", "").Replace(stderr.String()), "\n 0123456789") != "" {
				t.Errorf("stderr: %.300q", &stderr)
			}
		})
	}
}
