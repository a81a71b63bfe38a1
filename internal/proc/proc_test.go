//go:build unix

package proc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/remote-box/remote/internal/pause"
)

// roleVariable makes this program one of the processes that the tests need.
const roleVariable = "PROC_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role, rest, _ := strings.Cut(os.Getenv(roleVariable), " "); role {
	case "":
		os.Exit(m.Run())
	case "polite":
		fmt.Println(os.Getpid())
		time.Sleep(5 * time.Minute)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(os.Getpid())
		time.Sleep(5 * time.Minute)
	case "tree":
		// A chain of processes, each in a session of its own, whose last has no environment.
		Subreaper()
		signal.Ignore(syscall.SIGTERM)
		next := "stubborn"
		if len(rest) > 1 {
			next = "tree " + rest[1:]
		}
		cmd := self(next)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Env = []string{roleVariable + "=" + next}
		cmd.Stdout = os.Stdout
		fmt.Println(os.Getpid())
		cmd.Run()
	}
}

func self(role string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	return cmd
}

// begin starts a role and returns the pids that it and what it starts print.
func begin(t *testing.T, role string, n int, env ...string) (*exec.Cmd, []int) {
	t.Helper()
	cmd := self(role)
	cmd.Env = append(cmd.Env, env...)
	cmd.SysProcAttr = Group()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.SetReadDeadline(time.Now().Add(30 * time.Second))
	var pids []int
	for range n {
		var pid int
		if _, err := fmt.Fscanln(r, &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	t.Cleanup(func() {
		Signal(pids, syscall.SIGKILL)
		cmd.Wait()
	})
	return cmd, pids
}

func noneAlive(t *testing.T, pids []int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; {
		left := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return !Alive(pid) })
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v of %v are left", left, pids)
		}
		pause.For(t.Context(), time.Millisecond)
	}
}

func TestEndWithGrace(t *testing.T) {
	for role, signal := range map[string]string{"polite": "terminated", "stubborn": "killed"} {
		cmd, pids := begin(t, role, 1)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		End(t.Context(), func() []int {
			return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return !Alive(pid) })
		}, 300*time.Millisecond)
		if err := <-ended; err == nil || !strings.Contains(err.Error(), signal) {
			t.Errorf("%s: %v, want %s", role, err, signal)
		}
	}
}

func TestEndGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	End(ctx, func() []int { return []int{1 << 30} }, time.Minute) // no such process, and it never ends
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A tree ends with its leader, whatever its members have made of themselves.
func TestEndTree(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		cmd, pids := begin(t, "tree ....", 5)
		if stopped {
			Signal(pids[:1], syscall.SIGSTOP)
		}
		if got := Descendants(cmd.Process.Pid); len(got) != 4 {
			t.Errorf("%v are below %v", got, pids)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		EndTree(ctx, cmd.Process.Pid, func() []int { return nil })
		cancel()
		noneAlive(t, pids)
		cmd.Wait()
	}
}

func TestTagged(t *testing.T) {
	_, one := begin(t, "polite", 1, Tag+"=one")
	_, two := begin(t, "polite", 1, Tag+"=two")
	if got := Tagged(Tag, "one"); !slices.Equal(got, one) {
		t.Errorf("%v, want %v", got, one)
	}
	if got := Tagged(Tag, "tw"); len(got) != 0 {
		t.Errorf("%v, and %v is not one", got, two)
	}
}

func TestSignalSpares(t *testing.T) {
	Signal([]int{os.Getpid(), 0, 1, -1}, syscall.SIGKILL) // or this test would not go on
}

// buffer is a writer that can be looked at.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestPump(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var out buffer
	p := NewPump(r, &out)
	want := strings.Repeat("line\n", 10_000)
	io.WriteString(w, want)
	p.Drain()
	if out.String() != want {
		t.Errorf("%d bytes were passed on of %d", len(out.String()), len(want))
	}
	// The writer stays: it may go on, and nobody hears of it.
	w.SetWriteDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
		t.Errorf("writing after Drain: %v", err)
	}
	if out.String() != want {
		t.Error("what came after Drain was passed on")
	}
	if p.Open() == nil {
		t.Error("the pipe is open, but Open says no")
	}
	p.Close()
	if _, err := w.WriteString("x"); err == nil {
		t.Error("the pipe is still read after Close")
	}
	w.Close()
}

func TestPumpAtEnd(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var out buffer
	p := NewPump(r, &out)
	io.WriteString(w, "last words")
	w.Close()
	p.Drain()
	p.Close()
	if out.String() != "last words" {
		t.Errorf("%q", out.String())
	}
}
