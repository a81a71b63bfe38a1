package callproc

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/wire"
)

// Grace is how long a function may go on after its context ended before its process tree gets
// SIGTERM; Kill, after that, SIGKILL. The runner keeps to them by itself; its parent waits a
// little longer and then ends what is left.
const (
	Grace = time.Second
	Kill  = 500 * time.Millisecond
)

const backstop = Grace + Kill + time.Second

// atDeadline is how soon before a call's deadline its cancellation is taken for that deadline, which
// the runner keeps by itself: its function is to see DeadlineExceeded. The clock of a runner starts
// later than its host's, by as much as the request is under way.
const atDeadline = 500 * time.Millisecond

// How long a process may take to end once its answer is there, and once it has said something that
// is none.
const (
	linger       = 5 * time.Second
	lingerBroken = 100 * time.Millisecond
)

// Call is one call, as its parent sees it.
type Call struct {
	ID      string
	Nonce   string
	Request wire.Request
	// Input is the payload, unless Request.File names it.
	Input []byte
	// Stdout and Stderr get what the process tree prints, until the process has ended.
	Stdout, Stderr io.Writer
	// MaxResult bounds the result's size, 0 for no bound.
	MaxResult int64
}

// Result is what became of it.
type Result struct {
	// Response is nil if the process ended without one; Broken then says why, if it said
	// something that is no answer: a *wire.FrameError, *wire.VersionError or *TooLarge.
	Response *wire.Response
	Broken   error
	// Data is the output, unless Response.InFile.
	Data   []byte
	Status driver.Status
	// Late says that the process was ended because the call's time was up.
	Late bool
}

// Run starts a process with spawn and makes the call in it. It returns when the process has ended
// and all that it printed is passed on. When ctx ends, the function's context is cancelled, and
// what does not end by itself is killed. The pumps go on dropping what background processes print
// until leave is called on them; a nil leave closes them.
func Run(ctx context.Context, c *Call, spawn func([]*os.File) (driver.Process, error), leave func(*proc.Pump)) (*Result, error) {
	p, child, err := openPipes()
	if err != nil {
		return nil, err
	}
	defer p.close()
	process, err := spawn(child)
	closeAll(child)
	if err != nil {
		return nil, err
	}

	if leave == nil {
		leave = (*proc.Pump).Close
	}
	stdout, stderr := proc.NewPump(p.stdout, c.Stdout), proc.NewPump(p.stderr, c.Stderr)
	defer leave(stdout)
	defer leave(stderr)

	w := wire.NewWriter(p.in, c.Nonce)
	var feeding, answering sync.WaitGroup
	begun := make(chan struct{}) // a cancel frame must not come before the call's
	feeding.Go(func() {
		err := w.Message(wire.KindCall, c.ID, c.Request)
		close(begun)
		// An error means that the process is gone, which Wait reports.
		if err == nil && c.Request.File == "" {
			w.Data(wire.KindData, c.ID, c.Input)
		}
	})
	res, ready, answered := &Result{}, false, make(chan time.Duration, 1)
	answering.Go(func() {
		res.Response, res.Data, res.Broken = answer(p.out, c, &ready)
		if res.Broken != nil {
			answered <- lingerBroken
		} else if res.Response != nil {
			answered <- linger
		}
	})

	due := time.Now().Add(c.Request.Left)
	ended := make(chan struct{})
	var waitErr error
	go func() {
		defer close(ended)
		res.Status, waitErr = process.Wait()
	}()
	res.Late = supervise(ctx, c, process, ended, answered, func() {
		if c.Request.Left > 0 && time.Until(due) < atDeadline {
			return
		}
		feeding.Go(func() {
			<-begun
			w.Message(wire.KindCancel, c.ID, struct{}{})
		})
	})
	<-ended

	p.in.Close() // unblocks feeding and a cancel frame
	feeding.Wait()
	stdout.Drain()
	stderr.Drain()
	p.out.SetReadDeadline(time.Now().Add(time.Second)) // in case something inherited its other end
	answering.Wait()
	if res.Response == nil && res.Broken == nil && !ready && res.Status.Code == 0 {
		res.Broken = &wire.FrameError{Reason: "it ended without a hello"}
	}
	if res.Response == nil || res.Status.Code != 0 {
		// It did not get to ending what it had started.
		kill, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		process.Kill(kill)
	}
	return res, waitErr
}

// supervise waits for the process to end, ending it if it must. From answered comes how long that
// may take once its answer is there. It reports whether the call's time was up.
func supervise(ctx context.Context, c *Call, process driver.Process, ended <-chan struct{}, answered <-chan time.Duration, cancel func()) (late bool) {
	var deadline <-chan time.Time
	if c.Request.Left > 0 {
		t := time.NewTimer(c.Request.Left + backstop)
		defer t.Stop()
		deadline = t.C
	}
	select {
	case <-ended:
		return false
	case <-deadline:
		late = true
	case left := <-answered:
		t := time.NewTimer(left) // nothing that it does now counts
		defer t.Stop()
		select {
		case <-ended:
			return false
		case <-t.C:
		case <-ctx.Done():
		}
	case <-ctx.Done():
		cancel()
		t := time.NewTimer(backstop)
		defer t.Stop()
		select {
		case <-ended:
			return false
		case <-t.C:
		}
	}
	kill, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	process.Kill(kill)
	return late
}

// answer reads the process's response and its output.
func answer(r io.Reader, c *Call, ready *bool) (*wire.Response, []byte, error) {
	frames := wire.NewReader(r, c.Nonce, nil)
	f, err := frames.Next()
	if err == nil && f.Kind == wire.KindHello {
		var h wire.Hello
		if err := f.Decode(&h); err != nil {
			return nil, nil, err
		}
		if h.Version != wire.Version {
			return nil, nil, &wire.VersionError{Runner: h.Version}
		}
		*ready = true
		f, err = frames.Next()
	}
	if err != nil {
		if err == io.EOF || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) {
			return nil, nil, nil
		}
		if err == io.ErrUnexpectedEOF {
			err = &wire.FrameError{Reason: "an answer that ends inside a frame"}
		}
		return nil, nil, err
	}
	if !*ready {
		return nil, nil, &wire.FrameError{Reason: "its first frame is no hello"}
	}
	if f.Kind != wire.KindResult || f.Call != c.ID {
		return nil, nil, &wire.FrameError{Reason: "something else than this call's result"}
	}
	resp := new(wire.Response)
	if err := f.Decode(resp); err != nil {
		return nil, nil, err
	}
	if resp.Version != wire.Version {
		return nil, nil, &wire.VersionError{Runner: resp.Version}
	}
	if resp.InFile {
		return resp, nil, nil
	}
	var p Payload
	if err := p.Begin(resp.Size, c.MaxResult); err != nil {
		return nil, nil, err
	}
	for !p.Complete() {
		f, err := frames.Next()
		if err != nil {
			return nil, nil, &wire.FrameError{Reason: "a result that ends before its end"}
		}
		if f.Kind != wire.KindData || f.Call != c.ID {
			return nil, nil, &wire.FrameError{Reason: "something else inside a result"}
		}
		if err := p.Add(f.Body); err != nil {
			return nil, nil, err
		}
	}
	return resp, p.Bytes(), nil
}

// pipes are the parent's ends.
type pipes struct {
	in, out, stdout, stderr *os.File
}

func (p *pipes) close() { closeAll([]*os.File{p.in, p.out}) }

// openPipes also returns the child's descriptors 0 to 4.
func openPipes() (p *pipes, child []*os.File, err error) {
	p = &pipes{}
	var parent []*os.File
	defer func() {
		if err != nil {
			closeAll(parent)
			closeAll(child)
		}
	}()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	child = []*os.File{null, nil, nil, nil, nil}
	for i, end := range []struct {
		parent **os.File
		reads  bool // the parent's end is the reading one
	}{1: {&p.stdout, true}, 2: {&p.stderr, true}, 3: {&p.in, false}, 4: {&p.out, true}} {
		if end.parent == nil {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			return nil, child, err
		}
		if end.reads {
			*end.parent, child[i] = r, w
		} else {
			*end.parent, child[i] = w, r
		}
		parent = append(parent, *end.parent)
	}
	return p, child, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// OutFile is where a result is kept in a state directory.
func OutFile(state, id string) string { return filepath.Join(state, OutDir, id) }
