//go:build unix

package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/subprocess"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/rand"
	"github.com/remote-box/remote/internal/wire"
)

// supervisor is one that the test talks to by hand.
type supervisor struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	w      *wire.Writer
	frames chan wire.Frame
	ended  chan struct{}
}

func supervise(t *testing.T) *supervisor {
	t.Helper()
	const nonce = "nonce"
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{t: t, cmd: exec.Command(exe), frames: make(chan wire.Frame, 1000), ended: make(chan struct{})}
	s.cmd.Env = append(os.Environ(),
		callproc.EnvMode+"="+callproc.ModeServe, callproc.EnvNonce+"="+nonce, callproc.EnvState+"="+t.TempDir())
	s.cmd.Stderr = os.Stderr
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.w = wire.NewWriter(s.stdin, nonce)
	go func() {
		defer close(s.ended)
		r := wire.NewReader(out, nonce, nil)
		for {
			f, err := r.Next()
			if err != nil {
				close(s.frames)
				s.cmd.Wait()
				return
			}
			f.Body = bytes.Clone(f.Body)
			s.frames <- f
		}
	}()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		<-s.ended
	})
	s.next(wire.KindHello, wire.NoCall, &wire.Hello{})
	return s
}

// next waits for a frame of a kind and a call, skipping others.
func (s *supervisor) next(kind wire.Kind, call string, v any) {
	s.t.Helper()
	watch := time.After(watchdog)
	for {
		select {
		case f, more := <-s.frames:
			if !more {
				s.t.Fatalf("the supervisor ended before frame %c of %s", kind, call)
			}
			if f.Kind == kind && f.Call == call {
				if err := f.Decode(v); err != nil {
					s.t.Fatal(err)
				}
				return
			}
		case <-watch:
			s.t.Fatalf("no frame %c of %s", kind, call)
		}
	}
}

// call sends a call.
func (s *supervisor) call(id, function string, in any) {
	s.t.Helper()
	input, err := json.Marshal(in)
	if err != nil {
		s.t.Fatal(err)
	}
	s.w.Message(wire.KindCall, id, wire.Request{Version: wire.Version, Function: function, Size: int64(len(input))})
	s.w.Data(wire.KindData, id, input)
}

// outcome waits for a call's end.
func (s *supervisor) outcome(id string) wire.Outcome {
	s.t.Helper()
	var r wire.Response
	s.next(wire.KindResult, id, &r)
	s.next(wire.KindExit, id, &wire.Exit{})
	return r.Outcome
}

// over waits for the supervisor's end.
func (s *supervisor) over(d time.Duration) {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(d):
		s.t.Fatalf("the supervisor still runs after %v", d)
	}
}

// However a supervisor ends, what its calls have started ends with it.
func TestSupervisorEnds(t *testing.T) {
	for name, end := range map[string]func(*supervisor){
		"SIGTERM":      func(s *supervisor) { s.cmd.Process.Signal(syscall.SIGTERM) },
		"end of stdin": func(s *supervisor) { s.stdin.Close() },
		"quit":         func(s *supervisor) { s.w.Frame(wire.KindQuit, wire.NoCall, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := supervise(t)
			id := rand.Text(10) // by which processes are found, also those of other tests
			s.call(id+"left", leave.ID(), none{})
			s.outcome(id + "left")
			background := proc.Descendants(s.cmd.Process.Pid)
			note := filepath.Join(t.TempDir(), "pids")
			s.call(id+"running", stubborn.ID(), note)
			running := pids(t, note)
			if len(background) != 1 || len(running) != 2 {
				t.Errorf("in the background %v, running %v", background, running)
			}
			end(s)
			s.over(5 * time.Second)
			ended(t, time.Second, append(background, running...)...)
		})
	}
}

// A supervisor whose host does not read ends all the same.
func TestSupervisorOfDeafHost(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), callproc.EnvMode+"="+callproc.ModeServe, callproc.EnvNonce+"=nonce", callproc.EnvState+"="+t.TempDir())
	cmd.Stdout = w
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	note := filepath.Join(t.TempDir(), "pids")
	frames := wire.NewWriter(stdin, "nonce")
	input, _ := json.Marshal(note)
	frames.Message(wire.KindCall, "a", wire.Request{Version: wire.Version, Function: stubborn.ID(), Size: int64(len(input))})
	frames.Data(wire.KindData, "a", input)
	large, _ := json.Marshal(counting{Note: note + ".2", Size: 60 << 10})
	for i := range 5 { // more than a pipe holds
		id := fmt.Sprint("b", i)
		frames.Message(wire.KindCall, id, wire.Request{Version: wire.Version, Function: count.ID(), Size: int64(len(large))})
		frames.Data(wire.KindData, id, large)
	}
	running := pids(t, note)
	cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmd.Wait()
	}()
	select {
	case <-done:
	case <-time.After(8 * time.Second):
		cmd.Process.Kill()
		t.Error("it still runs")
	}
	ended(t, time.Second, running...)
}

func TestSupervisorRefusesSeenIDs(t *testing.T) {
	s := supervise(t)
	name := filepath.Join(t.TempDir(), "note")
	s.call("a", count.ID(), counting{Note: name, Size: 3})
	if o := s.outcome("a"); o != wire.OK {
		t.Error(o)
	}
	s.call("a", count.ID(), counting{Note: name, Size: 3})
	if o := s.outcome("a"); o != wire.Duplicate {
		t.Error(o)
	}
	s.w.Frame(wire.KindQuery, "a", nil)
	if o := s.outcome("a"); o != wire.OK {
		t.Error("asked again:", o)
	}
	s.w.Frame(wire.KindForget, "a", nil)
	s.w.Frame(wire.KindQuery, "a", nil)
	var exit wire.Exit
	if s.next(wire.KindExit, "a", &exit); exit.Signal != "SIGKILL" {
		t.Errorf("accepted, but no longer known: %+v", exit)
	}
	s.call("a", count.ID(), counting{Note: name, Size: 3})
	if o := s.outcome("a"); o != wire.Duplicate {
		t.Error("forgotten, called again:", o)
	}
	s.w.Frame(wire.KindQuery, "b", nil)
	if o := s.outcome("b"); o != wire.NoSuchCall {
		t.Error("never called:", o)
	}
	if n := lines(t, name); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

func TestSupervisorCancels(t *testing.T) {
	s := supervise(t)
	// A call whose input is not there yet has not begun.
	s.w.Message(wire.KindCall, "a", wire.Request{Version: wire.Version, Function: count.ID(), Size: 1000})
	s.w.Data(wire.KindData, "a", []byte("part"))
	s.w.Frame(wire.KindCancel, "a", nil)
	s.next(wire.KindExit, "a", &wire.Exit{})
	s.w.Data(wire.KindData, "a", make([]byte, 996))

	note := filepath.Join(t.TempDir(), "pids")
	s.call("b", stubborn.ID(), note)
	running := pids(t, note)
	s.w.Frame(wire.KindCancel, "b", nil)
	var exit wire.Exit
	s.next(wire.KindExit, "b", &exit)
	ended(t, time.Second, running...)
	if exit.Code == 0 {
		t.Errorf("%+v", exit)
	}
}

// Nothing that ends below a supervisor stays a zombie.
func TestSupervisorReaps(t *testing.T) {
	s := supervise(t)
	for i := range 3 {
		id := fmt.Sprint("call", i)
		s.call(id, orphans.ID(), none{})
		if o := s.outcome(id); o != wire.OK {
			t.Error(o)
		}
	}
	wait(t, 10*time.Second, "there are zombies", func() bool { return len(proc.Children(s.cmd.Process.Pid)) == 0 })
}

// host makes a call that never returns, in a session or without one.
func host() {
	ctx := context.Background()
	name := os.Getenv("RUNNER_TEST_NOTE")
	if strings.HasSuffix(name, "session") {
		s := remote.NewSession(subprocess.Backend{})
		ctx = s.Context(ctx)
	}
	stubborn.Call(ctx, name)
}

// A host that is killed leaves no process behind.
func TestHostKilled(t *testing.T) {
	for _, kind := range []string{"solo", "session"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			note := filepath.Join(t.TempDir(), kind)
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), roleVariable+"=host", "RUNNER_TEST_NOTE="+note, "TMPDIR="+t.TempDir())
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running := append(pids(t, note), proc.Descendants(cmd.Process.Pid)...)
			cmd.Process.Kill()
			cmd.Wait()
			if len(running) < 4 {
				t.Errorf("only %v ran", running)
			}
			ended(t, 5*time.Second, running...)
		})
	}
}

// What ignores its context is ended within seconds, whatever it has started.
func TestStubbornFunctionEnds(t *testing.T) {
	const most = 5 * time.Second
	for _, kind := range []string{"solo", "session", "once"} {
		for _, how := range []string{"deadline", "cancel"} {
			t.Run(kind+"/"+how, func(t *testing.T) {
				t.Parallel()
				note := filepath.Join(t.TempDir(), "pids")
				ctx, cancel := context.WithCancel(t.Context())
				switch kind {
				case "session":
					s := remote.NewSession(subprocess.Backend{})
					defer s.Close(t.Context())
					ctx = s.Context(ctx)
				case "once":
					ctx = remote.WithBackend(ctx, onceBackend{fault: fault{frames: -1}, execs: new(atomic.Int32)})
				}
				limit := 500 * time.Millisecond
				if how == "deadline" {
					ctx, cancel = context.WithTimeout(ctx, limit)
				}
				defer cancel()
				done := make(chan error, 1)
				began := time.Now()
				go func() {
					_, err := stubborn.Call(ctx, note)
					done <- err
				}()
				if how == "cancel" {
					pids(t, note)
					began, limit = time.Now(), 0
					cancel()
				}
				err := <-done
				if took := time.Since(began); took > limit+most {
					t.Errorf("it took %v", took)
				}
				if ctx.Err() == nil || err == nil || !strings.Contains(err.Error(), ctx.Err().Error()) {
					t.Errorf("%v, the context says %v", err, ctx.Err())
				}
				if _, err := os.Stat(note); err == nil { // else it has not got that far
					ended(t, time.Second, pids(t, note)...)
				}
			})
		}
	}
}
