package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/wire"
)

// cancelTime is how long a supervisor may take to end a call: the function's own time, and some.
const cancelTime = callproc.Grace + callproc.Kill + 4*time.Second

// queued is how many frames of one call wait for a slow writer before others of the connection do.
const queued = 64

// Call makes one call over the connection. An error other than ctx's means that it is unknown what
// became of the call, or that it never began; *Lost then says that the connection has ended.
func (c *Conn) Call(ctx context.Context, call *Call) (*Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	call.id, call.stdout, call.stderr = newID(), &head{w: call.Stdout}, &tail{w: call.Stderr}
	return c.exchange(ctx, call, c.send)
}

// exchange lets begin start a call, or ask for its result, and waits for that. begin calls begun
// when the supervisor will know of the call: a cancel frame that came earlier would be lost.
func (c *Conn) exchange(ctx context.Context, call *Call, begin func(ctx context.Context, id string, call *Call, begun func()) error) (*Reply, error) {
	id := call.id
	p := &pending{frames: make(chan wire.Frame, queued), gone: make(chan struct{})}
	c.mu.Lock()
	c.pending[id] = p
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		close(p.gone)
	}()
	sent, begun := make(chan error, 1), make(chan struct{})
	known := sync.OnceFunc(func() { close(begun) })
	go func() {
		defer known()
		sent <- begin(ctx, id, call, known)
	}()
	a := answer{call: call, stderr: call.stderr, stdout: call.stdout}
	err := c.wait(ctx, id, p, begun, &a)
	if serr := c.sent(sent); err == nil {
		err = serr
	}
	if err != nil {
		return nil, err
	}
	reply, err := c.taken(&a, id)
	go c.w.Frame(wire.KindForget, id, nil) // a supervisor that does not read must not hold it up
	return reply, err
}

// sent waits for the end of send. A supervisor that has answered without reading all of its input
// gets some time for the rest.
func (c *Conn) sent(sent <-chan error) error {
	select {
	case err := <-sent:
		return err
	default:
	}
	t := time.NewTimer(cancelTime)
	defer t.Stop()
	select {
	case err := <-sent:
		return err
	case <-c.done:
	case <-t.C:
	}
	c.stop()
	return <-sent
}

// send sends the request and its input. Its error is one of reading the input; one of writing ends
// the connection, which wait sees.
func (c *Conn) send(ctx context.Context, id string, call *Call, begun func()) error {
	req := call.request(ctx)
	_, local := c.sb.(driver.Local)
	if local {
		req.File = call.Input.Path
	}
	if c.w.Message(wire.KindCall, id, req) != nil {
		return nil
	}
	begun()
	if call.Input.Path == "" {
		c.w.Data(wire.KindData, id, call.Input.Data)
		return nil
	}
	if local {
		return nil
	}
	f, err := call.Input.open()
	if err == nil {
		defer f.Close()
		err = c.w.Copy(id, f)
	}
	if err != nil {
		c.w.Frame(wire.KindCancel, id, nil)
		if c.running() {
			return fmt.Errorf("sending the input: %w", err)
		}
	}
	return nil
}

// running reports whether the connection has not ended.
func (c *Conn) running() bool {
	select {
	case <-c.exited:
		return false
	default:
		return true
	}
}

// wait collects the call's frames until its process has ended. When ctx ends it asks the
// supervisor to end the call, and gives up the connection if that takes too long.
func (c *Conn) wait(ctx context.Context, id string, p *pending, begun <-chan struct{}, a *answer) error {
	canceled := ctx.Done()
	var giveUp <-chan time.Time
	for {
		select {
		case f := <-p.frames:
			if end, err := a.add(&f); end {
				if err != nil {
					c.fail(err)
				}
				return err
			}
			continue
		default:
		}
		select {
		case f := <-p.frames:
			if end, err := a.add(&f); end {
				if err != nil {
					c.fail(err)
				}
				return err
			}
		case <-canceled:
			canceled = nil
			go func() {
				<-begun
				c.w.Frame(wire.KindCancel, id, nil)
			}()
			t := time.NewTimer(cancelTime)
			defer t.Stop()
			giveUp = t.C
		case <-giveUp:
			c.stop()
			<-c.done
			return ctx.Err()
		case <-c.done:
			if len(p.frames) > 0 {
				continue
			}
			return c.Err()
		}
	}
}

// answer is what has arrived of a call's result.
type answer struct {
	call    *Call
	stdout  *head
	stderr  *tail
	resp    *wire.Response
	payload callproc.Payload
	broken  error
	exit    wire.Exit
	greeted bool

	tooLarge *callproc.TooLarge
}

// add takes in one frame. end means that there is nothing to wait for any more.
func (a *answer) add(f *wire.Frame) (end bool, err error) {
	switch f.Kind {
	case wire.KindStdout:
		a.stdout.Write(f.Body)
	case wire.KindStderr:
		a.stderr.Write(f.Body)
	case wire.KindResult:
		if a.resp != nil {
			return true, &wire.FrameError{Reason: "two results for one call"}
		}
		resp := new(wire.Response)
		if err := f.Decode(resp); err != nil {
			return true, err
		}
		if resp.Version != wire.Version {
			return true, &VersionError{Runner: resp.Version}
		}
		a.resp = resp
		if resp.InFile {
			return false, nil
		}
		err := a.payload.Begin(resp.Size, a.call.MaxResult)
		if tooLarge, ok := errors.AsType[*callproc.TooLarge](err); ok {
			a.tooLarge = tooLarge // the rest is dropped as it comes
			return false, nil
		}
		if err != nil {
			return true, err
		}
	case wire.KindData:
		if a.tooLarge != nil {
			return false, nil
		}
		if a.resp == nil || a.resp.InFile {
			return true, &wire.FrameError{Reason: "a piece of a result that was not announced"}
		}
		if err := a.payload.Add(f.Body); err != nil {
			return true, err
		}
	case wire.KindExit:
		if err := f.Decode(&a.exit); err != nil {
			return true, err
		}
		if a.resp != nil && !a.resp.InFile && a.tooLarge == nil && !a.payload.Complete() {
			return true, &wire.FrameError{Reason: "a result that ends before its end"}
		}
		if a.exit.Broken != "" {
			a.broken = errors.New(a.exit.Broken)
		}
		return true, nil
	default:
		return true, &wire.FrameError{Reason: "an unknown kind of frame"}
	}
	return false, nil
}

// reply is the answer, without an output that is in a file.
func (a *answer) reply() (*Reply, error) {
	if a.tooLarge != nil {
		return nil, a.tooLarge
	}
	return &Reply{
		Response: a.resp, Broken: a.broken, Data: a.payload.Bytes(),
		Status: driver.Status{Code: a.exit.Code, Signal: a.exit.Signal, OOM: a.exit.OOM},
		Late:   a.exit.Deadline, Stderr: a.stderr.bytes(),
		Raw: append(a.stdout.bytes(), a.stderr.bytes()...),
	}, nil
}

// taken is a.reply with an output that the supervisor left in a file.
func (c *Conn) taken(a *answer, id string) (*Reply, error) {
	r, err := a.reply()
	if err != nil {
		return nil, err
	}
	if a.resp == nil || !a.resp.InFile {
		return r, nil
	}
	local, ok := c.sb.(driver.Local)
	if !ok {
		return nil, &wire.FrameError{Reason: "a result in a file that this host can't see"}
	}
	// Under a name of its own, because the supervisor is about to forget the call.
	out := callproc.OutFile(local.StateDir(), id)
	if err := r.takeFile(out, a.call.MaxResult); err != nil || r.Path == "" {
		return r, err
	}
	r.Path = out + ".taken"
	return r, os.Rename(out, r.Path)
}
