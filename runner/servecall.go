package runner

import (
	"context"
	"os"
	"sync"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/codec"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/wire"
)

// call is a call that the supervisor accepted.
type call struct {
	id     string
	req    wire.Request
	input  codec.Spill
	start  func() // starts it, once its input is there
	begun  bool   // its input is there and start was called; for the goroutine that reads frames
	cancel context.CancelFunc
	done   chan struct{} // closed when result is set
	result *callproc.Result
	tape   *tape

	sending sync.Mutex // so that two reports of one result do not mix
}

func (s *supervisor) lookup(id string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}

// refuse answers a call that does not run.
func (s *supervisor) refuse(id string, outcome wire.Outcome, message string) {
	w, _ := s.line.now()
	if w == nil {
		return
	}
	w.Message(wire.KindResult, id, wire.Response{Version: wire.Version, Outcome: outcome, Message: wire.Text(message)})
	w.Message(wire.KindExit, id, wire.Exit{})
}

// exit says that a call has ended without a result.
func (s *supervisor) exit(id string, e wire.Exit) {
	if w, _ := s.line.now(); w != nil {
		w.Message(wire.KindExit, id, e)
	}
}

// begin accepts a call. It starts when all of its input has arrived.
func (s *supervisor) begin(f *wire.Frame) {
	host, turn := s.line.now()
	c := &call{id: f.Call, done: make(chan struct{}), tape: &tape{call: f.Call, keep: s.keep, to: host, turn: turn}}
	if err := f.Decode(&c.req); err != nil {
		s.refuse(c.id, wire.Incompatible, err.Error())
		return
	}
	ok, err := s.claim(c.id)
	switch {
	case err != nil:
		s.refuse(c.id, unclaimed(err), err.Error())
		return
	case !ok:
		s.refuse(c.id, wire.Duplicate, "this call was made before")
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.start = func() {
		c.begun = true
		s.wg.Go(func() { s.run(ctx, c) })
	}
	c.input = codec.Spill{Limit: wire.InlineMax, Create: func() (*os.File, error) {
		return os.OpenFile(s.state.inFile(c.id), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	}}
	s.mu.Lock()
	s.calls[c.id] = c
	s.mu.Unlock()
	if c.req.File != "" || c.req.Size == 0 {
		c.start()
	}
}

// claim accepts a call id. What only this process can be asked by is remembered here alone.
func (s *supervisor) claim(id string) (ok bool, err error) {
	if s.seen == nil {
		ok, file, err := s.state.claim(id)
		if ok {
			file.Close()
		}
		return ok, err
	}
	if _, err := os.Lstat(string(s.state)); err != nil {
		return false, err // the sandbox has been removed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[id] {
		return false, nil
	}
	s.seen[id] = true
	return true, nil
}

// accepted reports whether a call's id has been claimed.
func (s *supervisor) accepted(id string) bool {
	if s.seen == nil {
		return s.state.accepted(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[id]
}

// oomKills is what tells a process that memory ran out for, in a sandbox with a control group of
// its own; elsewhere the count is everybody's.
func (s *supervisor) oomKills() int {
	if s.seen != nil {
		return 0
	}
	return oomKills()
}

// data adds a piece to the input of a call that has not started.
func (s *supervisor) data(f *wire.Frame) {
	c := s.lookup(f.Call)
	if c == nil || c.begun {
		return // the input of a call that was refused, as a rule
	}
	if _, err := c.input.Write(f.Body); err != nil {
		s.drop(c)
		s.refuse(c.id, wire.Unrecorded, err.Error())
		return
	}
	if c.input.Size() >= c.req.Size {
		c.start()
	}
}

// run makes the call and sends its result, which is kept until the host has it.
func (s *supervisor) run(ctx context.Context, c *call) {
	defer c.cancel()
	req := c.req
	req.OutFile = s.state.outFile(c.id)
	if f := c.input.File(); f != nil {
		f.Close()
		req.File = f.Name()
		defer os.Remove(f.Name())
	}
	kills := s.oomKills()
	result, err := callproc.Run(ctx, &callproc.Call{
		ID: c.id, Nonce: s.nonce, Request: req, Input: c.input.Bytes(),
		Stdout: tapeWriter{c.tape, wire.KindStdout},
		Stderr: tapeWriter{c.tape, wire.KindStderr},
	}, func(files []*os.File) (driver.Process, error) {
		return s.reaper.start(func() (*child, error) { return spawn(c.id, s.nonce, files) })
	}, func(*proc.Pump) {}) // background processes may go on printing
	c.input = codec.Spill{}
	if err != nil {
		result = &callproc.Result{Response: &wire.Response{Version: wire.Version, Outcome: wire.Unrecorded, Message: wire.Text(err.Error())}}
	}
	result.Status.OOM = result.Status.OOM || result.Status.Signal == "SIGKILL" && s.oomKills() > kills
	c.result = result
	close(c.done)
	s.send(c)
}

// send sends a result to the host that has all of the call's output. If there is none, one that
// comes back asks for both.
func (s *supervisor) send(c *call) {
	c.sending.Lock()
	defer c.sending.Unlock()
	r, w := c.result, c.tape.listener()
	if w == nil {
		return
	}
	if resp := r.Response; resp != nil {
		sent := *resp
		sent.InFile = resp.InFile && s.shared
		if w.Message(wire.KindResult, c.id, sent) != nil {
			return
		}
		if resp.InFile && !s.shared {
			f, err := os.Open(s.state.outFile(c.id))
			if err != nil {
				return
			}
			defer f.Close()
			if w.Copy(c.id, f) != nil {
				return
			}
		} else if w.Data(wire.KindData, c.id, r.Data) != nil {
			return
		}
	}
	w.Message(wire.KindExit, c.id, wire.Exit{Code: r.Status.Code, Signal: r.Status.Signal, Deadline: r.Late, OOM: r.Status.OOM, Broken: broken(r)})
}

func broken(r *callproc.Result) string {
	if r.Broken == nil {
		return ""
	}
	return r.Broken.Error()
}

// cancel ends a call. One whose input is not complete has not begun.
func (s *supervisor) cancel(id string) {
	c := s.lookup(id)
	if c == nil {
		return
	}
	c.cancel()
	if !c.begun {
		s.drop(c)
		s.exit(id, wire.Exit{Code: -1})
	}
}

// query sends what a host does not have of a call's output, and its result when there is one.
func (s *supervisor) query(id string, has wire.Query, to *wire.Writer, turn int) {
	c := s.lookup(id)
	switch {
	case c == nil && s.accepted(id) && !s.isUnsent(id):
		// A supervisor before this one had it, and died with it.
		s.exit(id, wire.Exit{Code: -1, Signal: proc.SignalName(9)})
		return
	case c == nil:
		s.refuse(id, wire.NoSuchCall, "")
		return
	}
	c.tape.resume(to, turn, has)
	<-c.done
	s.send(c)
}

// forget drops a result that the host has. The call's claim stays.
func (s *supervisor) forget(id string) {
	if c := s.lookup(id); c != nil {
		s.drop(c)
	}
}

func (s *supervisor) drop(c *call) {
	s.mu.Lock()
	delete(s.calls, c.id)
	s.mu.Unlock()
	if !c.begun {
		if f := c.input.File(); f != nil {
			f.Close()
		}
	}
	os.Remove(s.state.outFile(c.id))
	os.Remove(s.state.inFile(c.id))
}

// dropUnsent drops the calls whose input a lost connection has not brought to its end. They have
// not begun, and never will: their ids are taken.
func (s *supervisor) dropUnsent() {
	s.mu.Lock()
	var unsent []*call
	for _, c := range s.calls {
		if !c.begun {
			unsent = append(unsent, c)
			if s.unsent == nil {
				s.unsent = map[string]bool{}
			}
			s.unsent[c.id] = true
		}
	}
	s.mu.Unlock()
	for _, c := range unsent {
		c.cancel()
		s.drop(c)
	}
}

func (s *supervisor) isUnsent(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unsent[id]
}
