//go:build linux && !remotebox_runner

package e2btest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// Not parallel: it looks at every goroutine and process.
func TestCloseLeavesNothing(t *testing.T) {
	for name, cfg := range map[string]e2btest.Config{"isolated": {}, "unconfined": {Unconfined: true}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cfg.Dir = dir
			srv, err := e2btest.Start(cfg)
			if err != nil {
				t.Fatal(err)
			}
			mark := fmt.Sprintf("sleep %d", 100000000+os.Getpid())
			t.Run("use", func(t *testing.T) {
				r := newRigOf(t, srv)
				b := r.create("")
				b.run("setsid " + mark + " >/dev/null 2>&1 &") // no longer of any tree
				b.start("echo up; " + mark).line()
				b.start("exec env -i " + mark) // no mark in its environment
				r.awaitProcesses(mark, 3)
				r.create("")
				r.build("endless", `{"fromImage":"x","steps":[{"type":"RUN","args":["`+mark+`"]}]}`)
				r.want("POST", "/sandboxes/"+r.create("").id+"/pause", "", 204, "")
			})
			if err := srv.Close(); err != nil {
				t.Error(err)
			}
			if err := srv.Close(); err != nil {
				t.Error("twice:", err)
			}
			var stacks bytes.Buffer
			pprof.Lookup("goroutine").WriteTo(&stacks, 2)
			for stack := range strings.SplitSeq(stacks.String(), "\n\n") {
				if strings.Contains(stack, "remote/backends/e2b/") && !strings.Contains(stack, "testing.tRunner") {
					t.Errorf("a goroutine is left:\n%s", stack)
				}
			}
			if left := processes(t, mark); len(left) > 0 {
				t.Errorf("processes are left: %q", left)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("files are left: %v %v", entries, err)
			}
			if _, err := newRigOf(t, srv).tryAPI("GET", "/v2/sandboxes", ""); err == nil {
				t.Error("it still answers")
			}
		})
	}
}

// processes returns the command lines on this machine that end like that.
func processes(t *testing.T, suffix string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		text := strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
		if err == nil && strings.HasSuffix(text, suffix) {
			found = append(found, e.Name()+": "+text)
		}
	}
	return found
}

// awaitProcesses waits until n processes have become what they are to be.
func (r *rig) awaitProcesses(suffix string, n int) {
	r.Helper()
	for len(processes(r.T, suffix)) < n {
		if r.ctx.Err() != nil {
			r.Fatalf("%d processes, want %d", len(processes(r.T, suffix)), n)
		}
	}
}

func TestSandboxesEndWithTheirProcesses(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	mark := fmt.Sprintf("sleep %d", 200000000+os.Getpid())
	b.run("setsid nohup " + mark + " >/dev/null 2>&1 &")
	b.awaitProcesses(mark, 1)
	b.want("DELETE", "/sandboxes/"+b.id, "", 204, "")
	if left := processes(t, mark); len(left) > 0 {
		t.Errorf("processes outlive their sandbox: %q", left)
	}
}

func TestPauseStopsProcesses(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	b.start("mkfifo up; setsid bash -c 'echo >up; while :; do :; done' >/dev/null 2>&1 & read x <up; echo up; while :; do :; done").line()
	states := func() string {
		var found []byte
		for _, pid := range processes(t, "while :; do :; done") {
			number, _, _ := strings.Cut(pid, ":")
			env, _ := os.ReadFile("/proc/" + number + "/environ")
			if !bytes.Contains(env, []byte(b.id)) {
				continue // of another test
			}
			stat, err := os.ReadFile("/proc/" + number + "/stat")
			if err != nil {
				continue
			}
			found = append(found, stat[bytes.LastIndexByte(stat, ')')+2])
		}
		return string(found)
	}
	if err := b.srv.PauseSandbox(b.id); err != nil {
		t.Fatal(err)
	}
	if got := states(); got != "TT" {
		t.Errorf("states %q, want two stopped processes", got)
	}
	b.want("POST", "/sandboxes/"+b.id+"/connect", `{"timeout":60}`, 201, "")
	if got := states(); len(got) != 2 || strings.Contains(got, "T") {
		t.Errorf("states %q, want two that run", got)
	}
}

// A server killed with SIGKILL takes its sandboxes along.
func TestServerKilled(t *testing.T) {
	const mark = "E2BTEST_KILLED_SERVER"
	if command := os.Getenv(mark); command != "" {
		serveUntilKilled(t, command)
		return
	}
	newRig(t, e2btest.Config{}).confined()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	command := fmt.Sprintf("sleep %d", 300000000+os.Getpid())
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestServerKilled$")
	cmd.Env = append(os.Environ(), mark+"="+command, "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for in.Scan() && in.Text() != "serving" {
	}
	cmd.Process.Kill()
	cmd.Wait()
	if in.Text() != "serving" {
		t.Fatalf("the server did not start: %q", in.Text())
	}
	for len(processes(t, command)) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("processes are left: %q", processes(t, command))
		}
	}
}

func serveUntilKilled(t *testing.T, command string) {
	b := newRigOf(t, e2btest.New(t, e2btest.Config{})).create("")
	b.run("setsid " + command + " >/dev/null 2>&1 &")
	b.start("exec " + command)
	b.awaitProcesses(command, 2)
	fmt.Println("serving")
	<-b.ctx.Done()
}
