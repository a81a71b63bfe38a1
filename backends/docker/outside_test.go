package docker_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/docker"
	"github.com/remote-box/remote/backends/docker/internal/testfuncs"
)

// greet makes a small call.
func greet(t *testing.T, ctx context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if out, err := testfuncs.Greet.Call(ctx, testfuncs.Greeting{Text: "you"}); err != nil || out.Text != "Hello you!" {
		t.Errorf("%v, %v", out, err)
	}
}

// long is a call that goes on until it is let go.
type long struct {
	names [3]string
	got   chan string
	err   chan error
}

// begin starts a long call and waits until it runs. b must be able to make calls beside it.
func begin(t *testing.T, ctx context.Context) *long {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(cancel)
	l := &long{[3]string{"/tmp/began", "/tmp/go on", "/tmp/count"}, make(chan string, 1), make(chan error, 1)}
	go func() {
		got, err := testfuncs.AwaitFile.Call(ctx, l.names)
		l.got <- got
		l.err <- err
	}()
	if err := await(ctx, l.names[0]); err != nil {
		t.Fatal(err)
	}
	return l
}

func await(ctx context.Context, name string) error {
	for {
		_, err := testfuncs.Read.Call(ctx, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// end lets the call go on and checks that it ran once.
func (l *long) end(t *testing.T, ctx context.Context) {
	t.Helper()
	if _, err := testfuncs.Write.Call(ctx, [2]string{l.names[1], ""}); err != nil {
		t.Error(err)
	}
	if got, err := <-l.got, <-l.err; err != nil || got != "x" {
		t.Errorf("the call under way: %q, %v", got, err)
	}
}

func TestPausedOutside(t *testing.T) {
	c := engine(t)
	ctx, _, id := session(t, docker.Backend{})
	for range 3 {
		if _, err := c.ContainerPause(t.Context(), id, client.ContainerPauseOptions{}); err != nil {
			t.Fatal(err)
		}
		greet(t, ctx)
	}
}

func TestStoppedOutside(t *testing.T) {
	c := engine(t)
	ctx, _, id := session(t, docker.Backend{})
	if _, err := testfuncs.Write.Call(ctx, [2]string{"file", "kept"}); err != nil {
		t.Fatal(err)
	}
	for _, stop := range []func() error{
		func() error { _, err := c.ContainerStop(t.Context(), id, client.ContainerStopOptions{}); return err },
		func() error {
			_, err := c.ContainerKill(t.Context(), id, client.ContainerKillOptions{Signal: "SIGKILL"})
			return err
		},
	} {
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if got, err := testfuncs.Read.Call(ctx, "file"); err != nil || got != "kept" {
			t.Errorf("after the container was stopped: %q, %v", got, err)
		}
	}
}

func TestStoppedDuringCall(t *testing.T) {
	c := engine(t)
	s := remote.NewSession(docker.Backend{}, remote.Concurrency(2))
	defer s.Close(t.Context())
	ctx := s.Context(t.Context())
	l := begin(t, ctx)
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ContainerKill(t.Context(), ref.Sandbox, client.ContainerKillOptions{Signal: "SIGKILL"}); err != nil {
		t.Fatal(err)
	}
	if e, ok := errors.AsType[*remote.ExitError](<-l.err); !ok || e.Signal != "SIGKILL" {
		t.Errorf("a call whose container was killed: %v", e)
	}
	greet(t, ctx)
	if ran, err := testfuncs.Read.Call(ctx, l.names[2]); err != nil || ran != "x" {
		t.Errorf("the call ran %q, %v", ran, err)
	}
}

func TestRemovedDuringCall(t *testing.T) {
	c := engine(t)
	s := remote.NewSession(docker.Backend{}, remote.Concurrency(2))
	defer s.Close(t.Context())
	l := begin(t, s.Context(t.Context()))
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	if err := remove(c)(t.Context(), ref.Sandbox); err != nil {
		t.Fatal(err)
	}
	if err := <-l.err; !errors.Is(err, remote.ErrSandboxGone) {
		t.Errorf("%v", err)
	}
}

// A call outlives its connection: the result is asked for over another one.
func TestStreamCut(t *testing.T) {
	c := engine(t)
	p := newProxy(t, c)
	s := remote.NewSession(docker.Backend{Host: p.host}, remote.Concurrency(2))
	defer s.Close(t.Context())
	ctx := s.Context(t.Context())
	l := begin(t, ctx)
	for range 3 {
		p.cut()
		greet(t, ctx)
	}
	p.refuse(8)
	p.cut()
	l.end(t, ctx)
	if n := p.refusing(); n > 0 {
		t.Errorf("%d connections were not refused", n)
	}
}

// A call begins though the engine was away when the session turned to it.
func TestEngineAway(t *testing.T) {
	c := engine(t)
	p := newProxy(t, c)
	ctx, _, _ := session(t, docker.Backend{Host: p.host})
	greet(t, ctx)
	for range 3 {
		p.refuse(8)
		p.cut()
		for p.refusing() > 0 {
			greet(t, ctx)
		}
	}
}

func TestStreamCutOnce(t *testing.T) {
	c := engine(t)
	p := newProxy(t, c)
	release := t.TempDir()
	b := docker.Backend{Host: p.host, User: "0", Mounts: []docker.Mount{{Source: release, Target: "/shared"}}}
	began := make(chan struct{})
	ctx := remote.WithOutput(remote.WithBackend(t.Context(), b), &onWrite{f: func() { close(began) }}, nil)
	done := make(chan error, 1)
	go func() {
		got, err := testfuncs.AwaitFile.Call(ctx, [3]string{"/tmp/x", "/shared/go on", "/tmp/count"})
		if err == nil && got != "x" {
			err = errors.New("it ran more than once: " + got)
		}
		done <- err
	}()
	<-began
	p.cut()
	if _, err := testfuncs.Write.Call(remote.WithBackend(t.Context(), docker.Backend{User: "0", Mounts: b.Mounts}), [2]string{"/shared/go on", ""}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What a function prints arrives whole and in order, however often the connection breaks meanwhile.
func TestStreamCutOutput(t *testing.T) {
	c := engine(t)
	p := newProxy(t, c)
	const n = 100_000
	var want strings.Builder
	for i := range n {
		fmt.Fprintln(&want, i)
	}
	for name, ctx := range map[string]context.Context{
		"session":  first(session(t, docker.Backend{Host: p.host})),
		"one call": remote.WithBackend(t.Context(), docker.Backend{Host: p.host}),
	} {
		stdout := &cutter{cut: p.cut, left: 4, every: want.Len() / 20}
		stderr := &cutter{cut: p.cut, left: 4, every: want.Len() / 15}
		if got, err := testfuncs.Count.Call(remote.WithOutput(ctx, stdout, stderr), n); err != nil || got != n {
			t.Fatalf("%s: %v, %v", name, got, err)
		}
		for stream, w := range map[string]*cutter{"stdout": stdout, "stderr": stderr} {
			if w.got.String() != want.String() {
				t.Errorf("%s: %d bytes of %s, not %d: %.50q … %.50q", name, w.got.Len(), stream, want.Len(),
					w.got.String(), w.got.String()[max(0, w.got.Len()-50):])
			}
			if w.left > 0 {
				t.Errorf("%s: %s was not cut %d times", name, stream, w.left)
			}
		}
	}
}

func first[A, B, C any](a A, _ B, _ C) A { return a }

// cutter keeps what is written to it, and breaks the connection after every so many bytes.
type cutter struct {
	cut         func()
	left, every int
	got         strings.Builder
}

func (w *cutter) Write(p []byte) (int, error) {
	before := w.got.Len() / w.every
	w.got.Write(p)
	if w.left > 0 && w.got.Len()/w.every > before {
		w.left--
		w.cut()
	}
	return len(p), nil
}

// onWrite calls f at the first write.
type onWrite struct {
	f    func()
	done bool
}

func (w *onWrite) Write(p []byte) (int, error) {
	if !w.done {
		w.done = true
		w.f()
	}
	return len(p), nil
}

// A pause keeps what runs: a call's background process counts on afterwards.
func TestSuspend(t *testing.T) {
	engine(t)
	ctx, s, _ := session(t, docker.Backend{})
	pid, err := testfuncs.Linger.Call(ctx, testfuncs.Nothing{})
	if err != nil {
		t.Fatal(err)
	}
	if alive, err := testfuncs.Alive.Call(ctx, pid); err != nil || !alive {
		t.Fatalf("before a pause the process lives: %t, %v", alive, err)
	}
	if _, err := s.Pause(ctx); err != nil {
		t.Fatal(err)
	}
	if alive, err := testfuncs.Alive.Call(ctx, pid); err != nil || !alive {
		t.Errorf("after a pause the process lives: %t, %v", alive, err)
	}
	ref, err := s.Pause(ctx)
	if err != nil {
		t.Fatal(err)
	}
	again, err := remote.Resume(t.Context(), ref, docker.Backend{})
	if err != nil {
		t.Fatal(err)
	}
	if alive, err := testfuncs.Alive.Call(again.Context(t.Context()), pid); err != nil || !alive {
		t.Errorf("after a pause, in another session, the process lives: %t, %v", alive, err)
	}
	if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
