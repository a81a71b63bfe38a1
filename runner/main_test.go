//go:build unix

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/runner"
)

// roleVariable makes this program something else than the tests or their runner.
const roleVariable = "RUNNER_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		fmt.Println("here")
		time.Sleep(5 * time.Minute)
		return
	case "orphans":
		// Leaves children behind that end by themselves.
		for range 20 {
			start("brief", os.Stdout)
		}
		return
	case "brief":
		return
	case "host":
		runner.Main()
		os.Unsetenv(roleVariable)
		host()
		return
	}
	runner.Main()
	os.Exit(m.Run())
}

// start starts this program in a role and in a session of its own.
func start(role string, stdout *os.File) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdout = stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// grandchild starts a process that only SIGKILL ends, and returns when it is that.
func grandchild() (pid int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer r.Close()
	defer w.Close()
	cmd := start("stubborn", w)
	_, err = r.Read(make([]byte, 1))
	return cmd.Process.Pid, err
}

type none struct{}

// note appends a line to a file, in one write.
func note(name, text string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	return errors.Join(err, f.Close())
}

var (
	quiet = remote.Output(nil, nil)

	// count notes that it ran and returns so many bytes.
	count = remote.New(func(_ context.Context, in counting) (string, error) {
		fmt.Println("running")
		return strings.Repeat("x", in.Size), note(in.Note, "ran")
	}, remote.Name("count"), quiet)

	// gate notes its pid, and waits until its file is there or its context ends.
	gate = remote.New(func(ctx context.Context, in counting) (string, error) {
		if err := note(in.Note, strconv.Itoa(os.Getpid())); err != nil {
			return "", err
		}
		return "through", until(ctx, func() bool { _, err := os.Stat(in.Note + ".open"); return err == nil })
	}, remote.Name("gate"), quiet)

	// talk prints a line, and another for each of its files as it comes.
	talk = remote.New(func(ctx context.Context, in counting) (none, error) {
		fmt.Println("one")
		for i, line := range []string{"two", "three", "four"} {
			if err := until(ctx, func() bool { _, err := os.Stat(in.Note + strconv.Itoa(i+1)); return err == nil }); err != nil {
				return none{}, err
			}
			fmt.Println(line)
		}
		return none{}, nil
	}, remote.Name("talk"), quiet)

	// patricide kills the process that runs it.
	patricide = remote.New(func(ctx context.Context, _ none) (none, error) {
		syscall.Kill(os.Getppid(), syscall.SIGKILL)
		<-ctx.Done()
		return none{}, ctx.Err()
	}, remote.Name("patricide"), quiet)

	// leave leaves a process running and returns its pid.
	leave = remote.New(func(context.Context, none) (int, error) { return grandchild() }, remote.Name("leave"), quiet)

	// stubborn does so too, and ignores its context. It notes the pids first.
	stubborn = remote.New(func(_ context.Context, name string) (none, error) {
		pid, err := grandchild()
		if err != nil {
			return none{}, err
		}
		if err := note(name, fmt.Sprint(os.Getpid(), " ", pid)); err != nil {
			return none{}, err
		}
		select {}
	}, remote.Name("stubborn"), quiet)

	// orphans leaves orphans that end at once.
	orphans = remote.New(func(context.Context, none) (none, error) { return none{}, start("orphans", nil).Wait() }, remote.Name("orphans"), quiet)

	// goexit, rude and loud end in unusual ways.
	goexit = remote.New(func(context.Context, none) (none, error) { runtimeGoexit(); return none{}, nil }, remote.Name("goexit"), quiet)
	rude   = remote.New(func(context.Context, rudeType) (rudeType, error) { return rudeType{"out"}, nil }, remote.Name("rude"), quiet)
	loud   = remote.New(func(context.Context, none) (none, error) { panic(strings.Repeat("\x00\x01", 1<<20)) }, remote.Name("loud"), quiet)
)

type counting struct {
	Note string
	Size int
	Fill string
}

// rudeType panics when it is to be turned into JSON in a sandbox.
type rudeType struct{ where string }

func (r rudeType) MarshalJSON() ([]byte, error) {
	if r.where == "out" {
		panic("no JSON today")
	}
	return []byte("{}"), nil
}

// until waits for a condition that another process makes true.
func until(ctx context.Context, ready func() bool) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// wait is until with a watchdog.
func wait(t *testing.T, d time.Duration, what string, ready func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if until(ctx, ready) != nil {
		t.Fatalf("after %v: %s", d, what)
	}
}

// pids waits for the pids that a function notes.
func pids(t *testing.T, name string) (found []int) {
	t.Helper()
	wait(t, time.Minute, "the function has not begun", func() bool {
		b, err := os.ReadFile(name)
		return err == nil && strings.HasSuffix(string(b), "\n")
	})
	b, _ := os.ReadFile(name)
	for _, f := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, pid)
	}
	return found
}

func ended(t *testing.T, d time.Duration, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		wait(t, d, fmt.Sprintf("process %d still runs", pid), func() bool { return !proc.Alive(pid) })
	}
}

func lines(t *testing.T, name string) int {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}
