//go:build !remotebox_runner

package docker

import (
	"context"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/rand"
)

// run runs a process beside the supervisor.
func (s *sandbox) run(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	tag := rand.Text(26)
	opts := client.ExecCreateOptions{
		AttachStdin: cmd.Stdin != nil, AttachStdout: true, AttachStderr: true,
		Cmd: slices.Clone(cmd.Args),
		// The container's own environment makes the runner its first process.
		Env: append([]string{proc.CallTag + "=" + tag, callproc.EnvMode + "="}, cmd.Env...),
	}
	if opts.Cmd[0] == driver.RunnerArg {
		opts.Cmd[0] = runnerPath
	}
	if cmd.Dir != "" {
		dir, err := s.absolute(ctx, cmd.Dir)
		if err != nil {
			return driver.Status{}, err
		}
		opts.WorkingDir = dir
	}
	id, streams, err := s.execID(ctx, opts)
	if errdefs.IsConflict(err) {
		// The container was paused or stopped from outside.
		if err = s.Resume(ctx); err == nil {
			id, streams, err = s.execID(ctx, opts)
		}
	}
	if err != nil {
		if _, gone := s.engine.inspect(ctx, s.id); gone != nil && ctx.Err() == nil {
			return driver.Status{}, gone
		}
		return driver.Status{}, s.engine.explain(err)
	}
	defer streams.Close()
	out := copyOut(streams, cmd)
	copyIn(streams, cmd)
	return s.await(ctx, id, tag, streams, out)
}

// absolute is a working directory as the engine wants it.
func (s *sandbox) absolute(ctx context.Context, dir string) (string, error) {
	if path.IsAbs(dir) {
		return dir, nil
	}
	c, err := s.engine.inspect(ctx, s.id)
	if err != nil {
		return "", err
	}
	return path.Join("/", c.Config.WorkingDir, dir), nil
}

// How often the engine is asked whether a process has ended whose output goes on, and how long
// that may then do so: something that it left running holds it.
const (
	askEvery = 300 * time.Millisecond
	outDelay = time.Second
)

// await waits for a process, ending it when ctx ends.
func (s *sandbox) await(ctx context.Context, id, tag string, streams *client.HijackedResponse, out <-chan error) (driver.Status, error) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	var over <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			s.kill(ctx, tag)
			streams.Close()
			if out != nil {
				<-out
			}
			return driver.Status{}, ctx.Err()
		case <-over:
			streams.Close()
			<-out
			return s.status(ctx, id)
		case <-out:
			out = nil
			tick.Reset(5 * time.Millisecond) // the engine is about to know that it has ended
		case <-tick.C:
		}
		r, err := s.engine.ExecInspect(ctx, id, client.ExecInspectOptions{})
		if err != nil && ctx.Err() == nil {
			if _, gone := s.engine.inspect(ctx, s.id); gone != nil {
				return driver.Status{}, gone
			}
			return driver.Status{}, s.engine.explain(err)
		}
		if err != nil || r.Running {
			continue
		}
		if out == nil {
			return exitStatus(r.ExitCode), nil
		}
		if over == nil {
			over = time.After(outDelay)
		}
	}
}

func (s *sandbox) status(ctx context.Context, id string) (driver.Status, error) {
	r, err := s.engine.ExecInspect(ctx, id, client.ExecInspectOptions{})
	if err != nil {
		return driver.Status{}, s.engine.explain(err)
	}
	return exitStatus(r.ExitCode), nil
}

// exitStatus takes the engine's code apart: 128 and a signal's number may also be a shell's code,
// but for those that end a process without a chance to exit by itself.
func exitStatus(code int) driver.Status {
	switch sig := syscall.Signal(code - 128); sig {
	case syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGILL:
		return driver.Status{Code: -1, Signal: proc.SignalName(sig)}
	}
	return driver.Status{Code: code}
}

// killTime is how long ending a process may take.
const killTime = 10 * time.Second

// kill ends a process and what it started. The engine can't do that: the runner does.
func (s *sandbox) kill(ctx context.Context, tag string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	streams, err := s.exec(ctx, client.ExecCreateOptions{
		AttachStdout: true, Cmd: []string{runnerPath},
		Env: []string{callproc.EnvMode + "=" + callproc.ModeKill, callproc.EnvCall + "=" + tag},
	})
	if err != nil {
		return // the container is gone, and the process with it
	}
	defer streams.Close()
	select {
	case <-copyOut(streams, &driver.Command{}):
	case <-ctx.Done():
	}
}
