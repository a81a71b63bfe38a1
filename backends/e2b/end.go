//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/pause"
	"github.com/remote-box/remote/internal/proc"
)

const (
	// graceTime is how long a runner may take to end its call once it was told to: what callproc.Run
	// needs, and some.
	graceTime = callproc.Grace + callproc.Kill + 3*time.Second
	// startTime is how long the answer of a process may take that is to be ended before it was seen
	// to begin.
	startTime = 5 * time.Second
	killTime  = 15 * time.Second
)

// endProcess ends a process and everything that it started, and returns when that is done or can't
// be. ended gets the end of its stream. A runner is told by SIGTERM, and ends its call in good order;
// what does not end so is killed, found by its tag: signals of the agent reach one process only, and
// leave its children behind (E2B issue 1034).
func (s *sandbox) endProcess(ctx context.Context, f *follower, tag string, ended <-chan error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), graceTime+startTime+killTime)
	defer stop()
	select {
	case <-f.started:
		// A Connect client sends the deadline of its context along; that of a signal does no harm.
		if s.signal(ctx, f.pid.Load(), process.Signal_SIGNAL_SIGTERM) == nil && within(ended, graceTime) {
			return
		}
	case err := <-ended:
		if refused(err) {
			return // it never began
		}
	case <-time.After(startTime):
	}
	s.killTagged(ctx, tag)
}

// within reports whether a process ended before d had passed. A stream that only broke is no end.
func within(ended <-chan error, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case err := <-ended:
		return err == nil
	case <-t.C:
		return false
	}
}

// refused reports whether err says that the sandbox has not seen the request.
func refused(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && !r.unanswered
}

// signal signals one process. One that has ended is no error.
func (s *sandbox) signal(ctx context.Context, pid uint32, sig process.Signal) error {
	selector := &process.ProcessSelector{Selector: &process.ProcessSelector_Pid{Pid: pid}}
	return s.insist(ctx, func() error {
		_, err := s.envd.process.SendSignal(ctx, connect.NewRequest(&process.SendSignalRequest{Process: selector, Signal: sig}))
		if r, ok := errors.AsType[*refusal](err); ok && r.status == http.StatusNotFound {
			return nil
		}
		return err
	})
}

// insist repeats what may be done twice until it succeeds or can't.
func (s *sandbox) insist(ctx context.Context, f func() error) error {
	var err error
	for try := range 4 {
		if err = s.delivered(ctx, f); err == nil || ctx.Err() != nil || final(err) {
			return err
		}
		if !pause.For(ctx, time.Duration(try+1)*100*time.Millisecond) {
			break
		}
	}
	return err
}

// killTagged kills every process that carries the tag, with the help of the runner.
func (s *sandbox) killTagged(ctx context.Context, tag string) error {
	req := &process.StartRequest{
		Process: &process.ProcessConfig{Cmd: s.runner, Envs: map[string]string{
			callproc.EnvMode: callproc.ModeKill, callproc.EnvCall: tag, proc.CallTag: "",
		}},
		Stdin: new(false),
	}
	return s.insist(ctx, func() error {
		lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		f := &follower{started: make(chan struct{})}
		return f.start(lasting, s.envd.process, req)
	})
}
