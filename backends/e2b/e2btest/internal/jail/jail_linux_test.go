//go:build !remotebox_runner

package jail

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/remote-box/remote/internal/needs"
)

// open makes a jail for the test, with name spaces or without.
func open(t *testing.T, confined bool, dir string, layers ...string) *Jail {
	t.Helper()
	base := filepath.Join(t.TempDir(), "base")
	if err := WriteBase(base); err != nil {
		t.Fatal(err)
	}
	j, err := New(Config{ID: "i-" + filepath.Base(dir), Dir: dir, Base: base, Layers: layers, Unconfined: !confined})
	if err != nil {
		if confined && os.Getuid() != 0 {
			needs.Missing(t, "name spaces need root: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// run runs a shell command in j and returns its output.
func run(t *testing.T, j *Jail, command string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := j.Start(Command{
		Argv: []string{"/bin/sh", "-c", command},
		Env:  []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "E2B_SANDBOX_ID=" + j.cfg.ID},
		Dir:  "/", User: User{UID: 1000, GID: 1000}, Stdout: w, Stderr: w,
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Wait()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(out))
}

func TestConfinedJailIsPrivate(t *testing.T) {
	dir := t.TempDir()
	j := open(t, true, dir)
	got := run(t, j, `id -u; cat /proc/1/comm; echo hi >/home/user/f; cat /home/user/f; hostname; ls /dev/pts; test -e "$0" && ls -d /root/* /home/* 2>/dev/null`)
	if want := "1000\nsh\nhi\ne2b.local\nptmx\n/home/user"; got != want && got != want[:len(want)-len("\n/home/user")] {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "root/home/user/f")); err != nil {
		t.Error("the file is not in the jail's upper directory:", err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if err := j.Do(func() {}); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	// A jail above its files sees them and leaves them alone, and one with the same
	// directory has them.
	if got := run(t, open(t, true, t.TempDir(), dir), "cat /home/user/f; rm /home/user/f; cat /home/user/f 2>&1 | wc -l"); got != "hi\n1" {
		t.Errorf("above: %q", got)
	}
	if got := run(t, open(t, true, dir), "cat /home/user/f"); got != "hi" {
		t.Errorf("again: %q", got)
	}
}

func TestFreezeAndClose(t *testing.T) {
	for _, confined := range []bool{true, false} {
		t.Run(map[bool]string{true: "confined", false: "directory"}[confined], func(t *testing.T) {
			j := open(t, confined, t.TempDir())
			p, out := start(t, j, "setsid sh -c 'echo up; while :; do sleep 0.01; done' & wait")
			waited := make(chan struct{})
			go func() { defer close(waited); p.Wait() }()
			if _, err := out.Read(make([]byte, 3)); err != nil {
				t.Fatal(err)
			}
			for range 20 { // against the race with a fork
				if err := j.Freeze(); err != nil {
					t.Fatal(err)
				}
				pids, err := j.pids()
				if err != nil || len(pids) < 2 {
					t.Fatalf("pids %v, %v; want the leader and its child at least", pids, err)
				}
				for _, pid := range pids {
					if state := processState(pid); state != 'T' && state != 'D' { // D: in vfork
						t.Errorf("pid %d is in state %c", pid, state)
					}
				}
				if err := j.Thaw(); err != nil {
					t.Fatal(err)
				}
			}
			pids, err := j.pids()
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			<-waited
			for _, pid := range pids {
				if state := processState(pid); state != 0 && state != 'Z' {
					t.Errorf("pid %d lives on in state %c", pid, state)
				}
			}
		})
	}
}

// start starts a command whose output the test reads.
func start(t *testing.T, j *Jail, command string) (*Process, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	p, err := j.Start(Command{
		Argv: []string{"/bin/sh", "-c", command}, Env: []string{"PATH=/usr/bin:/bin", "E2B_SANDBOX_ID=" + j.cfg.ID},
		Dir: "/", User: User{UID: 1000, GID: 1000}, Stdout: w,
	})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}
