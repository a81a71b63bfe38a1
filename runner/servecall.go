package runner

import (
	"context"
	"os"

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
	cancel context.CancelFunc
	done   chan struct{} // closed when result is set
	result *callproc.Result
}

func (s *supervisor) lookup(id string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[id]
}

func (s *supervisor) refuse(id string, outcome wire.Outcome, message string) {
	s.w.Message(wire.KindResult, id, wire.Response{Version: wire.Version, Outcome: outcome, Message: wire.Text(message)})
	s.w.Message(wire.KindExit, id, wire.Exit{})
}

// begin accepts a call. It starts when all of its input has arrived.
func (s *supervisor) begin(f *wire.Frame) {
	c := &call{id: f.Call, done: make(chan struct{})}
	if err := f.Decode(&c.req); err != nil {
		s.refuse(c.id, wire.Incompatible, err.Error())
		return
	}
	ok, claim, err := s.state.claim(c.id)
	switch {
	case err != nil:
		s.refuse(c.id, unclaimed(err), err.Error())
		return
	case !ok:
		s.refuse(c.id, wire.Duplicate, "this call was made before")
		return
	}
	claim.Close()
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.start = func() { s.wg.Go(func() { s.run(ctx, c) }) }
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

// data adds a piece to the input of a call that has not started.
func (s *supervisor) data(f *wire.Frame) {
	c := s.lookup(f.Call)
	if c == nil || c.req.File != "" || c.input.Size() >= c.req.Size {
		return
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
	result, err := callproc.Run(ctx, &callproc.Call{
		ID: c.id, Nonce: s.nonce, Request: req, Input: c.input.Bytes(),
		Stdout: outputWriter{s.w, wire.KindStdout, c.id},
		Stderr: outputWriter{s.w, wire.KindStderr, c.id},
	}, func(files []*os.File) (driver.Process, error) {
		return s.reaper.start(func() (*child, error) { return spawn(c.id, s.nonce, files) })
	}, func(*proc.Pump) {}) // background processes may go on printing
	c.input = codec.Spill{}
	if err != nil {
		result = &callproc.Result{Response: &wire.Response{Version: wire.Version, Outcome: wire.Unrecorded, Message: wire.Text(err.Error())}}
	}
	c.result = result
	close(c.done)
	s.send(c)
}

// send sends a result.
func (s *supervisor) send(c *call) {
	r := c.result
	if resp := r.Response; resp != nil {
		sent := *resp
		sent.InFile = resp.InFile && s.shared
		if s.w.Message(wire.KindResult, c.id, sent) != nil {
			return
		}
		if resp.InFile && !s.shared {
			f, err := os.Open(s.state.outFile(c.id))
			if err != nil {
				return
			}
			defer f.Close()
			if s.w.Copy(c.id, f) != nil {
				return
			}
		} else if s.w.Data(wire.KindData, c.id, r.Data) != nil {
			return
		}
	}
	s.w.Message(wire.KindExit, c.id, wire.Exit{Code: r.Status.Code, Signal: r.Status.Signal, Deadline: r.Late, Broken: broken(r)})
}

func broken(r *callproc.Result) string {
	if r.Broken == nil {
		return ""
	}
	return r.Broken.Error()
}

// query sends a call's result again, when there is one.
func (s *supervisor) query(id string) {
	c := s.lookup(id)
	if c == nil {
		s.refuse(id, wire.NoSuchCall, "")
		return
	}
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
	os.Remove(s.state.outFile(c.id))
	os.Remove(s.state.inFile(c.id))
}

// outputWriter sends what it is given as frames.
type outputWriter struct {
	w    *wire.Writer
	kind wire.Kind
	call string
}

func (o outputWriter) Write(p []byte) (int, error) {
	return len(p), o.w.Data(o.kind, o.call, p)
}
