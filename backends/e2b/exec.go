//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/rand"
)

// Exec implements driver.Sandbox: one request, in whose answer the output arrives. Nothing is sent
// twice that may have reached the sandbox; a stream that breaks is an error.
func (s *sandbox) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	if cmd.Stdin != nil {
		return driver.Status{}, errors.New("an E2B sandbox's processes have no stdin here")
	}
	req, tag := s.startRequest(cmd)
	deliver := s.deliveredOnce
	if cmd.Args[0] == driver.RunnerArg {
		deliver = s.delivered // a runner makes no call twice
	}
	defer s.use()()
	var st driver.Status
	err := deliver(ctx, func() error {
		var err error
		st, err = s.run(ctx, req, tag, cmd)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return driver.Status{}, ctx.Err()
	}
	return st, err
}

// startRequest describes the process. Everything that it starts carries a tag, by which all of it
// can be found.
func (s *sandbox) startRequest(cmd *driver.Command) (req *process.StartRequest, tag string) {
	env := map[string]string{}
	for _, v := range cmd.Env {
		k, v, _ := strings.Cut(v, "=")
		env[k] = v
	}
	if s.c.debug { // nobody has told the agent
		for k, v := range s.c.Env {
			if _, given := env[k]; !given {
				env[k] = v
			}
		}
	}
	tag = env[callproc.EnvCall]
	if tag == "" {
		tag = rand.Text(26)
	}
	env[proc.CallTag] = tag
	cfg := &process.ProcessConfig{Cmd: cmd.Args[0], Args: cmd.Args[1:], Envs: env}
	if cfg.Cmd == driver.RunnerArg {
		cfg.Cmd = s.runner
	}
	if cmd.Dir != "" {
		cfg.Cwd = &cmd.Dir
	}
	// Left out, stdin would be an open pipe (envd process.proto).
	return &process.StartRequest{Process: cfg, Tag: &tag, Stdin: new(false)}, tag
}

// run starts the process and follows it to its end. When ctx ends, it ends the process.
func (s *sandbox) run(ctx context.Context, req *process.StartRequest, tag string, cmd *driver.Command) (driver.Status, error) {
	f := &follower{stdout: cmd.Stdout, stderr: cmd.Stderr, started: make(chan struct{})}
	err := s.listen(ctx, f, tag, func(ctx context.Context) error { return f.start(ctx, s.envd.process, req) })
	if err == nil || ctx.Err() != nil {
		return f.status, err
	}
	if f.pid.Load() == 0 || ended(err) {
		return f.status, s.streamError(err)
	}
	return driver.Status{}, &driver.BrokenStream{
		Err: s.streamError(err),
		Follow: func(ctx context.Context, stdout, stderr io.Writer) (driver.Status, error) {
			return s.follow(ctx, f.again(stdout, stderr), tag)
		},
	}
}

// follow listens to a process that was started before, taking the connection up again and again.
func (s *sandbox) follow(ctx context.Context, f *follower, tag string) (driver.Status, error) {
	defer s.use()()
	var err error
	for try := range followTries {
		begin := time.Now()
		err = s.delivered(ctx, func() error {
			return s.listen(ctx, f, tag, func(ctx context.Context) error { return f.connect(ctx, s.envd.process) })
		})
		if err == nil || ctx.Err() != nil || ended(err) || final(err) {
			break
		}
		if time.Since(begin) < keepalive && !pause.For(ctx, httpapi.Backoff(try)) {
			break
		}
	}
	if ctx.Err() != nil {
		return driver.Status{}, ctx.Err()
	}
	return f.status, s.streamError(err)
}

// followTries is how often a process is listened to whose stream breaks.
const followTries = 6

// ended reports whether err is the agent's own word about a process, such as that it knows none of
// that number.
func ended(err error) bool {
	_, ok := errors.AsType[*connect.Error](err)
	return ok && connect.IsWireError(err)
}

// listen reads a stream of the process. When ctx ends, it ends the process.
func (s *sandbox) listen(ctx context.Context, f *follower, tag string, read func(context.Context) error) error {
	// A deadline would be sent along, as the time that the process may live, after which the agent
	// kills the process and leaves its children (envd, process start).
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ended, left := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(left)
		ended <- read(lasting)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.endProcess(ctx, f, tag, ended)
	stop()
	<-left // the caller's writers are the caller's again
	return ctx.Err()
}

// streamError says what the end of a stream without the process's end means.
func (s *sandbox) streamError(err error) error {
	if err == nil {
		return nil
	}
	if final(err) {
		return err
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if e, ok := errors.AsType[*connect.Error](err); ok && connect.IsWireError(err) {
		// The agent's word, such as that there is no such directory: nothing was started.
		return fmt.Errorf("E2B sandbox %s: %s: %s", s.id, e.Code(), httpapi.Printable(e.Message()))
	}
	return fmt.Errorf("the stream of a process in E2B sandbox %s broke: %w", s.id, err)
}
