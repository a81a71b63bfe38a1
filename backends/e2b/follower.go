//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process/processconnect"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
)

// follower reads the events of one process.
type follower struct {
	stdout, stderr io.Writer

	pid     atomic.Uint32
	started chan struct{} // closed once pid is known
	once    sync.Once
	status  driver.Status
}

// endWait is how long the end of a stream may take after the end of its process.
const endWait = time.Second

// errNoEnd is a stream that ends although its process may not have.
var errNoEnd = errors.New("it ended without the process's end")

// again is a follower of the same process.
func (f *follower) again(stdout, stderr io.Writer) *follower {
	g := &follower{stdout: stdout, stderr: stderr, started: f.started}
	g.pid.Store(f.pid.Load())
	g.once.Do(func() {})
	return g
}

// stream is what the streams of Start and Connect have in common.
type stream interface {
	Receive() bool
	Err() error
	Close() error
}

// start starts the process and returns nil once it has ended.
func (f *follower) start(ctx context.Context, client processconnect.ProcessClient, req *process.StartRequest) error {
	return f.read(ctx, func(ctx context.Context) (stream, func() *process.ProcessEvent, error) {
		s, err := client.Start(ctx, connect.NewRequest(req))
		return s, func() *process.ProcessEvent { return s.Msg().GetEvent() }, err
	})
}

// connect listens to the process and returns nil once it has ended, or if it has half a minute ago
// or less.
func (f *follower) connect(ctx context.Context, client processconnect.ProcessClient) error {
	selector := &process.ProcessSelector{Selector: &process.ProcessSelector_Pid{Pid: f.pid.Load()}}
	return f.read(ctx, func(ctx context.Context) (stream, func() *process.ProcessEvent, error) {
		s, err := client.Connect(ctx, connect.NewRequest(&process.ConnectRequest{Process: selector}))
		return s, func() *process.ProcessEvent { return s.Msg().GetEvent() }, err
	})
}

// read reads a stream to the process's end.
func (f *follower) read(ctx context.Context, open func(context.Context) (stream, func() *process.ProcessEvent, error)) error {
	// The time until the first event is bounded by the silence as well.
	ctx, idle := httpapi.WithIdle(ctx, silence)
	defer idle.Stop()
	s, event, err := open(ctx)
	if err != nil {
		return orIdle(ctx, err)
	}
	defer s.Close()
	for s.Receive() {
		idle.Pause() // a slow writer is no silence
		if f.take(event()) {
			// The end of the stream follows at once. Where it is read, the connection can be used
			// again.
			defer time.AfterFunc(endWait, idle.Stop).Stop()
			s.Receive()
			return nil
		}
		idle.Touch()
	}
	if err := s.Err(); err != nil {
		return orIdle(ctx, err)
	}
	return errNoEnd
}

// orIdle is err, or that there was silence for too long if that is why it came.
func orIdle(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*httpapi.ErrIdle](context.Cause(ctx)); ok {
		return e
	}
	return err
}

// take takes in one event. end means that the process has ended.
func (f *follower) take(ev *process.ProcessEvent) (end bool) {
	switch {
	case ev.GetStart() != nil:
		f.pid.Store(ev.GetStart().GetPid())
		f.once.Do(func() { close(f.started) })
	case ev.GetData() != nil:
		d := ev.GetData()
		if out := d.GetStdout(); len(out) > 0 && f.stdout != nil {
			f.stdout.Write(out)
		}
		if out := d.GetStderr(); len(out) > 0 && f.stderr != nil {
			f.stderr.Write(out)
		}
	case ev.GetEnd() != nil:
		f.status = status(ev.GetEnd())
		return true
	}
	return false
}

// status is how a process ended. The agent leaves out an exit code of 0, and writes signals as Go
// does: "signal: killed", "signal: segmentation fault (core dumped)".
func status(end *process.ProcessEvent_EndEvent) driver.Status {
	st := driver.Status{Code: int(end.GetExitCode())}
	text, killed := strings.CutPrefix(end.GetStatus(), "signal: ")
	if !killed {
		return st
	}
	text, _, _ = strings.Cut(text, " (")
	st.Code, st.Signal = -1, signalName(text)
	return st
}

// signalName is the name of a signal that Linux's Go describes so.
func signalName(text string) string {
	switch text {
	case "killed":
		return "SIGKILL"
	case "terminated":
		return "SIGTERM"
	case "interrupt":
		return "SIGINT"
	case "hangup":
		return "SIGHUP"
	case "quit":
		return "SIGQUIT"
	case "aborted":
		return "SIGABRT"
	case "segmentation fault":
		return "SIGSEGV"
	case "bus error":
		return "SIGBUS"
	case "illegal instruction":
		return "SIGILL"
	case "floating point exception":
		return "SIGFPE"
	case "broken pipe":
		return "SIGPIPE"
	case "trace/breakpoint trap":
		return "SIGTRAP"
	case "alarm clock":
		return "SIGALRM"
	case "user defined signal 1":
		return "SIGUSR1"
	case "user defined signal 2":
		return "SIGUSR2"
	case "CPU time limit exceeded":
		return "SIGXCPU"
	case "file size limit exceeded":
		return "SIGXFSZ"
	case "bad system call":
		return "SIGSYS"
	}
	return "SIG(" + text + ")"
}
