//go:build !remotebox_runner

package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/pause"
)

// sandbox is a container.
type sandbox struct {
	engine *engine
	id     string // the container's name
	image  string
	once   bool

	mu     sync.Mutex
	first  *client.HijackedResponse // the first process's streams, until a host takes them
	closed bool
}

var (
	_ driver.Streamer = (*sandbox)(nil)
	_ driver.Pauser   = (*sandbox)(nil)
	_ driver.Imaged   = (*sandbox)(nil)
)

// ID implements driver.Sandbox.
func (s *sandbox) ID() string { return s.id }

// Image implements driver.Imaged.
func (s *sandbox) Image() string { return s.image }

// Streams implements driver.Streamer.
func (s *sandbox) Streams() {}

// Exec implements driver.Sandbox. The supervisor is the container's first process already: to
// start one means to connect to it, and the end of ctx ends the connection only.
func (s *sandbox) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	if cmd.Args[0] == driver.RunnerArg && slices.Contains(cmd.Env, callproc.EnvMode+"="+callproc.ModeServe) {
		return s.serve(ctx, cmd)
	}
	return s.run(ctx, cmd)
}

// start starts the container, which has not run yet or has stopped, and keeps the streams of its
// first process.
func (s *sandbox) start(ctx context.Context) error {
	a, err := s.engine.ContainerAttach(ctx, s.id, client.ContainerAttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	if _, err := s.engine.ContainerStart(ctx, s.id, client.ContainerStartOptions{}); err != nil {
		a.Close()
		return err
	}
	s.keep(&a.HijackedResponse)
	return nil
}

func (s *sandbox) keep(streams *client.HijackedResponse) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		s.first.Close()
	}
	s.first = streams
}

// takeFirst returns the streams of the first process, unless they have been taken.
func (s *sandbox) takeFirst() *client.HijackedResponse {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.first
	s.first = nil
	return f
}

// Pause implements driver.Pauser.
func (s *sandbox) Pause(ctx context.Context) error {
	_, err := s.engine.ContainerPause(ctx, s.id, client.ContainerPauseOptions{})
	if err == nil {
		return nil
	}
	c, inspectErr := s.engine.inspect(ctx, s.id)
	if inspectErr != nil {
		return inspectErr
	}
	switch c.State.Status {
	case container.StatePaused:
		return nil
	case container.StateExited, container.StateCreated:
		return nil // files are all that there is to keep
	}
	return s.engine.explain(err)
}

// Resume implements driver.Pauser. A container that has been stopped is started again.
func (s *sandbox) Resume(ctx context.Context) error {
	c, err := s.engine.inspect(ctx, s.id)
	if err != nil {
		return err
	}
	switch c.State.Status {
	case container.StatePaused:
		return s.unpause(ctx)
	case container.StateExited, container.StateCreated:
		return s.engine.explain(s.start(ctx))
	}
	return nil
}

func (s *sandbox) unpause(ctx context.Context) error {
	_, err := s.engine.ContainerUnpause(ctx, s.id, client.ContainerUnpauseOptions{})
	if err == nil {
		return nil
	}
	if c, inspectErr := s.engine.inspect(ctx, s.id); inspectErr != nil {
		return inspectErr
	} else if c.State.Status == container.StateRunning {
		return nil // somebody else was faster
	}
	return s.engine.explain(err)
}

// Close implements driver.Sandbox.
func (s *sandbox) Close(ctx context.Context) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil
	}
	if err := s.remove(ctx); err != nil {
		return fmt.Errorf("removing the container %s: %w", s.id, s.engine.explain(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.engine.close()
	return nil
}

// awayTime is how long the engine may be away before a container is given up to the others that
// remove what nobody uses.
const awayTime = 5 * time.Second

// remove removes the container, whatever it does. One that is gone is no error.
func (s *sandbox) remove(ctx context.Context) error {
	if f := s.takeFirst(); f != nil {
		f.Close()
	}
	deadline := time.Now().Add(awayTime)
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		_, err := s.engine.ContainerRemove(ctx, s.id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		switch {
		case err == nil, errdefs.IsNotFound(err):
			return nil
		case errdefs.IsConflict(err):
			// Somebody else is at it.
			if _, gone := s.engine.inspect(ctx, s.id); gone != nil && !errors.Is(gone, driver.ErrSandboxGone) {
				return gone
			}
		case !client.IsErrConnectionFailed(err) || time.Now().After(deadline):
			return err
		}
		if !pause.For(ctx, wait) {
			return err
		}
	}
}
