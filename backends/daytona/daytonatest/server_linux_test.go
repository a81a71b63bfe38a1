//go:build linux && !remotebox_runner

package daytonatest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remote-box/remote/internal/needs"
)

// zombie reports whether a process is dead and only its parent has not noticed.
func zombie(pid int) bool { return processState(pid) == 'Z' || processState(pid) == 'X' }

// A virtual machine that is paused stands still, whatever runs in it, and goes on where it was.
func TestPauseFreezes(t *testing.T) {
	for name, cfg := range modes() {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, cfg)
			id := c.create(fields{"snapshot": "daytona-vm-small"})
			c.is(c.box(id, "POST", "/process/session", fields{"sessionId": "s"}), 201)
			c.is(c.box(id, "POST", "/process/session/s/exec", fields{"command": `sh -c 'trap "echo bye > bye; exit" TERM; I=0; while :; do I=$((I+1)); echo $I > n; sleep 0.01; done'`, "runAsync": true}), 202)
			count := func() string {
				_, out := c.exec(id, "cat n")
				return out
			}
			c.poll("the counter runs", func() bool { return count() > "" })
			c.is(c.api("POST", "/sandbox/"+id+"/pause", nil), 200, `"state":"pausing"`)
			c.wait(id, "paused")
			c.is(c.api("POST", "/sandbox/"+id+"/pause", nil), 400)
			c.is(c.box(id, "GET", "/version", nil), 400)
			pids := c.srv.Sandboxes()[0].Processes
			if len(pids) == 0 {
				t.Fatalf("processes %v", pids)
			}
			for _, pid := range pids {
				if !standsStill(pid, true) {
					t.Errorf("process %d is %c, not stopped", pid, processState(pid))
				}
			}
			c.is(c.api("POST", "/sandbox/"+id+"/start", nil), 200, `"state":"resuming"`)
			c.wait(id, "started")
			c.is(c.box(id, "GET", "/process/session/s", nil), 200) // sessions live on
			first := count()
			c.poll("the counter goes on", func() bool { return count() != first })
			c.is(c.api("POST", "/sandbox/"+id+"/pause", nil), 200)
			c.wait(id, "paused")
			c.is(c.api("POST", "/sandbox/"+id+"/stop", nil), 200)
			c.wait(id, "stopped")
			// It was asked to end before it was made to, although it stood still.
			c.is(c.api("POST", "/sandbox/"+id+"/start", nil), 200, `"state":"starting"`)
			c.wait(id, "started")
			c.execOK(id, "cat bye", "bye\n")
		})
	}
}

// Absolute paths mean the sandbox's own, for commands and for the file calls alike, and the host keeps its own.
func TestIsolation(t *testing.T) {
	c := newClient(t, Config{})
	if !c.srv.Isolated() {
		needs.Missing(t, "needs root and namespaces")
	}
	a, b := c.create(fields{}), c.create(fields{})
	for _, name := range []string{"/tmp/f", "/home/daytona/f", "/root/f", "/usr/local/bin/f", "/etc/f", "/opt/f", "/new/dir/f"} {
		c.is(c.box(a, "POST", "/files/upload-v2?path="+name, strings.NewReader("from a")), 200)
		if name != "/root/f" { // which is closed to the user of the default snapshot
			c.execOK(a, "cat "+name, "from a")
		}
		c.is(c.box(b, "GET", "/files/info?path="+name, nil), 404)
		if exists(name) {
			t.Errorf("the host has %s now", name)
		}
	}
	c.execOK(a, "id -un; pwd; echo $HOME; echo $USER; ps -o pid= -p 1 | tr -d ' '", "daytona\n/home/daytona\n/home/daytona\ndaytona\n1\n")
	// Orphans are reaped: nobody is left when this has ended.
	c.execOK(a, "(setsid true &) ; echo done", "done\n")
	c.poll("orphans are reaped", func() bool {
		_, out := c.exec(a, "ps -eo stat= | grep -c Z")
		return out == "0\n"
	})
	// What /usr was given outlives a stop, as the rest of the disk does.
	c.is(c.api("POST", "/sandbox/"+a+"/stop?force=true", nil), 200)
	c.wait(a, "stopped")
	c.is(c.api("POST", "/sandbox/"+a+"/start", nil), 200)
	c.wait(a, "started")
	c.execOK(a, "cat /usr/local/bin/f", "from a")
}

const helperEnv = "DAYTONATEST_HELPER"

// TestHelper is no test: it is the process that TestCrash kills.
func TestHelper(t *testing.T) {
	if os.Getenv(helperEnv) == "" {
		t.Skip("is run by TestCrash")
	}
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.execOK(id, "setsid sleep 300 >/dev/null 2>&1 </dev/null &", "")
	fmt.Println("isolated", c.srv.Isolated())
	for _, pid := range c.srv.Sandboxes()[0].Processes {
		fmt.Println("pid", pid)
	}
	fmt.Println("ready")
	<-c.ctx.Done()
}

// The processes of a server that could not clean up, because it was killed, end with it.
func TestCrash(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHelper$")
	cmd.Env = append(os.Environ(), helperEnv+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	isolated := false
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "ready" {
		var pid int
		if _, err := fmt.Sscanf(lines.Text(), "pid %d", &pid); err == nil {
			pids = append(pids, pid)
		}
		isolated = isolated || lines.Text() == "isolated true"
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if !isolated {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		needs.Missing(t, "needs root and namespaces")
	}
	if len(pids) < 3 {
		t.Fatalf("processes %v", pids)
	}
	c := &client{t: t, ctx: ctx}
	c.poll("all have ended", func() bool {
		return !slices.ContainsFunc(pids, alive)
	})
}
