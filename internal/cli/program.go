package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
	"github.com/remote-box/remote/internal/proc"
)

// programError says that a program of the user's packages did not answer.
type programError struct {
	program string
	reason  string
	words   string // what it printed, its end
	file    string // where its packages were being initialised, if that is known
	line    int
}

func (e *programError) Error() string {
	s := e.program + ": " + e.reason
	if e.file != "" {
		s += fmt.Sprintf(", at %s:%d", short(e.file), e.line)
	}
	if e.words != "" {
		s += "; it said:\n    " + strings.ReplaceAll(e.words, "\n", "\n    ")
	}
	return s
}

// patience is how long a program may take to stop when it is told to, and its report to end after
// it has stopped.
const patience = 10 * time.Second

// run starts a program with a request and hands its events on, one at a time. The program's own
// output goes nowhere, but into the error when something is wrong.
func (a *app) run(ctx context.Context, p build.HostProgram, req hostmode.Request, handle func(*hostmode.Event)) error {
	if p.Path == "" {
		return &programError{program: p.Name, reason: "it could not be linked", words: p.Err}
	}
	dir, err := os.MkdirTemp("", "remote-box-host-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	defer w.Close()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, p.Path)
	cmd.SysProcAttr = proc.Group()
	req.Version, req.Main, req.Jobs = hostmode.Version, p.Main, a.jobs
	if req.Report, err = hostmode.PassReport(cmd, w); err != nil {
		return err
	}
	if terminal := a.terminal(); req.Op == hostmode.Build && terminal != nil {
		// One display at a time has the terminal.
		req.Terminal, req.Jobs = hostmode.PassTerminal(cmd, terminal), 1
	}
	b, err := json.Marshal(req)
	if err != nil {
		return err
	}
	request := filepath.Join(dir, "request.json")
	if err := os.WriteFile(request, b, 0o600); err != nil {
		return err
	}
	words := new(lastWords)
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.root, words, words
	cmd.Env = append(os.Environ(), hostmode.Variable+"="+request, "PWD="+a.root, "GOTRACEBACK=single")
	cmd.Cancel = func() error { return stop(cmd, context.Cause(ctx)) }
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		return &programError{program: p.Name, reason: err.Error()}
	}
	w.Close()

	report := &reportReader{handle: handle, started: make(chan struct{}), ended: make(chan struct{})}
	go report.read(r)
	initialised := time.AfterFunc(a.initTimeout, func() { cancel(errInitTimeout) })
	go func() {
		<-report.started
		initialised.Stop()
	}()
	err = cmd.Wait()
	proc.SignalGroup(cmd.Process.Pid, 9) // what its packages have started
	// Processes that they started may still hold the pipe.
	if r.SetReadDeadline(time.Now().Add(patience)) != nil {
		time.AfterFunc(patience, func() { r.Close() })
	}
	<-report.ended
	err = a.explainEnd(ctx, p, report, err, words.String())
	if e, ok := errors.AsType[*programError](err); ok && !report.begun && e.file == "" && ctx.Err() == nil {
		e.reason += a.blame(ctx, p)
	}
	return err
}

var errInitTimeout = errors.New("its packages had not initialised")

// stop ends a program: one that hangs while it initialises is asked where.
func stop(cmd *exec.Cmd, cause error) error {
	if errors.Is(cause, errInitTimeout) {
		return askWhere(cmd)
	}
	return cmd.Process.Signal(terminate)
}

// explainEnd is what the end of a program means.
func (a *app) explainEnd(ctx context.Context, p build.HostProgram, r *reportReader, err error, words string) error {
	if r.complete {
		return nil
	}
	if errors.Is(context.Cause(ctx), errInitTimeout) && !r.begun {
		e := &programError{program: p.Name, reason: fmt.Sprintf("its packages had not initialised after %v", a.initTimeout)}
		e.file, e.line = initPlace(words)
		e.words = beforeTrace(words)
		return e
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	how := "it exited with code 0"
	if err != nil {
		how = "it ended with " + err.Error()
	}
	e := &programError{program: p.Name, words: endOf(words)}
	if r.begun {
		e.reason = how + " before it had answered"
		return e
	}
	e.reason = how + " while its packages initialised"
	e.file, e.line = initPlace(words)
	return e
}

// reportReader reads a program's report.
type reportReader struct {
	handle         func(*hostmode.Event)
	started, ended chan struct{}
	begun          bool // the packages were initialised
	complete       bool // the last event was there
}

func (r *reportReader) read(pipe io.Reader) {
	defer close(r.ended)
	var once sync.Once
	begin := func() { once.Do(func() { close(r.started) }) }
	defer begin()
	for dec := json.NewDecoder(pipe); ; {
		e := new(hostmode.Event)
		if dec.Decode(e) != nil {
			return
		}
		switch e.Kind {
		case hostmode.Started:
			r.begun = true
			begin()
		case hostmode.Ended:
			r.complete = true
			return
		default:
			r.handle(e)
		}
	}
}
