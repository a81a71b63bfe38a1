//go:build !remotebox_runner

package docker

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/pause"
)

// serve connects a host to the supervisor until the stream breaks or ctx ends.
func (s *sandbox) serve(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	streams, err := s.connect(ctx, nonceOf(cmd.Env))
	if err != nil {
		return driver.Status{}, s.engine.explain(err)
	}
	defer streams.Close()
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if !s.once {
			s.keepAwake(watching)
		}
	}()
	defer func() {
		stop()
		<-watched
	}()
	out := copyOut(streams, cmd)
	copyIn(streams, cmd)
	select {
	case err := <-out:
		return driver.Status{}, s.broken(ctx, err)
	case <-ctx.Done():
		streams.Close()
		<-out
		return driver.Status{}, ctx.Err()
	}
}

func nonceOf(env []string) string {
	for _, v := range env {
		if nonce, ok := strings.CutPrefix(v, callproc.EnvNonce+"="); ok {
			return nonce
		}
	}
	return ""
}

// copyOut passes on what a process writes, and reports the end of that.
func copyOut(streams *client.HijackedResponse, cmd *driver.Command) <-chan error {
	stdout, stderr := cmd.Stdout, cmd.Stderr
	if stdout == nil {
		stdout = io.Discard
	}
	if stderr == nil {
		stderr = io.Discard
	}
	out := make(chan error, 1)
	go func() {
		_, err := stdcopy.StdCopy(stdout, stderr, streams.Reader)
		out <- err
	}()
	return out
}

// copyIn passes stdin on. Whoever owns it ends it when Exec has returned.
func copyIn(streams *client.HijackedResponse, cmd *driver.Command) {
	if cmd.Stdin == nil {
		return
	}
	go func() {
		io.Copy(streams.Conn, cmd.Stdin)
		streams.CloseWrite()
	}()
}

// connect gets streams to the supervisor: those of the first process when the container has just
// been started, else those of a bridge to it.
func (s *sandbox) connect(ctx context.Context, nonce string) (*client.HijackedResponse, error) {
	deadline := time.Now().Add(conflictTime)
	for {
		if first := s.takeFirst(); first != nil {
			if _, err := io.WriteString(first.Conn, nonce+"\n"); err == nil {
				return first, nil
			}
			first.Close()
		}
		// It may have been paused or stopped from outside.
		if err := s.Resume(ctx); err != nil {
			return nil, err
		}
		s.mu.Lock()
		restarted := s.first != nil
		s.mu.Unlock()
		if restarted {
			continue
		}
		streams, err := s.exec(ctx, client.ExecCreateOptions{
			AttachStdin: true, AttachStdout: true, AttachStderr: true,
			Cmd: []string{runnerPath},
			Env: []string{callproc.EnvMode + "=" + callproc.ModeAttach, callproc.EnvNonce + "=" + nonce},
		})
		if errdefs.IsConflict(err) && time.Now().Before(deadline) && pause.For(ctx, 20*time.Millisecond) {
			continue // it was stopped or paused just now
		}
		return streams, err
	}
}

// conflictTime is how long the engine may take to agree with itself on what a container does.
const conflictTime = 5 * time.Second

// exec starts a process in the container.
func (s *sandbox) exec(ctx context.Context, opts client.ExecCreateOptions) (*client.HijackedResponse, error) {
	_, streams, err := s.execID(ctx, opts)
	return streams, err
}

func (s *sandbox) execID(ctx context.Context, opts client.ExecCreateOptions) (id string, streams *client.HijackedResponse, err error) {
	created, err := s.engine.ExecCreate(ctx, s.id, opts)
	if err != nil {
		return "", nil, err
	}
	attached, err := s.engine.ExecAttach(ctx, created.ID, client.ExecAttachOptions{})
	return created.ID, &attached.HijackedResponse, err
}

// endTime is how long a container may take to be seen as ended after its streams have.
const endTime = 300 * time.Millisecond

// broken says why the streams of the supervisor have ended.
func (s *sandbox) broken(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	deadline := time.Now().Add(endTime)
	for {
		c, err := s.engine.inspect(ctx, s.id)
		if err != nil {
			return err
		}
		switch {
		case c.State.OOMKilled && c.State.Status == container.StateExited:
			return fmt.Errorf("the container %s was stopped because its memory ran out", s.id)
		case c.State.Status == container.StateExited:
			why := ""
			if c.State.ExitCode != 0 {
				why = s.engine.foreign(ctx, c.Image)
			}
			return fmt.Errorf("the container %s has stopped, with code %d%s", s.id, c.State.ExitCode, why)
		}
		if time.Now().After(deadline) || !pause.For(ctx, 10*time.Millisecond) {
			break
		}
	}
	if cause == nil {
		cause = io.EOF
	}
	return fmt.Errorf("the stream to the container %s broke: %w", s.id, cause)
}
