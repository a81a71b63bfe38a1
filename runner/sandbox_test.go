//go:build unix

package runner_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/local"
)

func runtimeGoexit() { runtime.Goexit() }

type thisProgram struct{ driver.Program }

func (thisProgram) Runner(context.Context, driver.Target) (string, error) { return os.Executable() }

var errBroken = errors.New("connection reset")

// fault is what goes wrong with the first Exec that makes a call.
type fault struct {
	name   string
	frames int  // how many frames come through before the break; -1 for all
	late   bool // the process starts after the break, when the result has been asked for
	never  bool // the process never starts
	silent bool // the break is not reported: the output just ends
	twice  bool // the process is started twice, and the second's output comes
}

// onceBackend makes sandboxes to which no stream can be kept, with a fault.
type onceBackend struct {
	fault
	execs *atomic.Int32
	modes chan<- string // what was started, if it is not nil
}

func (onceBackend) Name() string { return "once" }

func (b onceBackend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	spec.Program = thisProgram{}
	sb, err := local.Start(ctx, local.Config{}, spec)
	if err != nil {
		return nil, err
	}
	s := &onceSandbox{Sandbox: sb, b: b, dir: sb.(driver.Local).StateDir(), late: make(chan struct{})}
	return s, nil
}

func (onceBackend) Attach(context.Context, string, driver.Spec) (driver.Sandbox, error) {
	return nil, errors.ErrUnsupported
}

type onceSandbox struct {
	driver.Sandbox
	b    onceBackend
	dir  string
	late chan struct{} // closed when a late process may start
	once sync.Once
	wg   sync.WaitGroup
}

// Close implements driver.Sandbox. What goes on behind a broken connection has to end first.
func (s *onceSandbox) Close(ctx context.Context) error {
	defer s.wg.Wait()
	return s.Sandbox.Close(ctx)
}

func (s *onceSandbox) ReadFile(_ context.Context, path string) (io.ReadCloser, error) {
	return os.Open(s.path(path))
}

// path is where the host's path for the runner's state is here.
func (s *onceSandbox) path(path string) string {
	return strings.Replace(path, "/tmp/.remote-box-state", filepath.Join(s.dir, "state"), 1)
}

func (s *onceSandbox) WriteFile(_ context.Context, path string, r io.Reader) error {
	path = s.path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

func (s *onceSandbox) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	c := *cmd
	c.Env = append(slices.Clone(cmd.Env), callproc.EnvState+"="+filepath.Join(s.dir, "state"))
	mode := ""
	for _, v := range cmd.Env {
		if m, ok := strings.CutPrefix(v, callproc.EnvMode+"="); ok {
			mode = m
		}
	}
	if s.b.modes != nil {
		s.b.modes <- mode
	}
	first := mode == callproc.ModeOnce && s.b.execs.Add(1) == 1
	switch {
	case first && s.b.never:
		return driver.Status{}, errBroken
	case first && s.b.late:
		s.wg.Go(func() {
			<-s.late
			c.Stdout = io.Discard
			s.Sandbox.Exec(context.WithoutCancel(ctx), &c)
		})
		return driver.Status{}, errBroken
	case first && s.b.twice:
		once := c
		once.Stdout = io.Discard
		if st, err := s.Sandbox.Exec(ctx, &once); err != nil {
			return st, err
		}
		return s.Sandbox.Exec(ctx, &c)
	case first && s.b.frames >= 0:
		return s.cut(ctx, &c)
	}
	st, err := s.Sandbox.Exec(ctx, &c)
	if mode == callproc.ModeResult && s.b.late {
		s.once.Do(func() { close(s.late) })
		s.wg.Wait()
	}
	return st, err
}

// cut lets some frames through. The process goes on: what broke is the connection.
func (s *onceSandbox) cut(ctx context.Context, c *driver.Command) (driver.Status, error) {
	out := &cutter{w: c.Stdout, left: s.b.frames, broken: make(chan struct{})}
	if out.left == 0 {
		close(out.broken)
	}
	c.Stdout = out
	if s.b.silent {
		return s.Sandbox.Exec(ctx, c)
	}
	ended := make(chan struct{})
	s.wg.Go(func() {
		defer close(ended)
		s.Sandbox.Exec(context.WithoutCancel(ctx), c)
	})
	select {
	case <-out.broken:
	case <-ended:
	}
	return driver.Status{}, errBroken
}

// cutter passes on so many lines, then nothing. Lines are frames here, but for the first: a
// newline before the hello.
type cutter struct {
	mu     sync.Mutex
	w      io.Writer
	left   int
	broken chan struct{}
}

func (c *cutter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range bytes.Lines(p) {
		if c.left == 0 {
			break
		}
		c.w.Write(line)
		if bytes.HasSuffix(line, []byte("\n")) {
			if c.left--; c.left == 0 {
				close(c.broken)
			}
		}
	}
	return len(p), nil
}
