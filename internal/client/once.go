package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/pause"
	"github.com/remote-box/remote/internal/rand"
	"github.com/remote-box/remote/internal/wire"
)

// Once makes a call in a sandbox to which no stream can be kept: with one Exec, whose environment
// holds the request. When the connection breaks before the result is there, the result is asked
// for again; the call itself is repeated only when the sandbox has said that it has not accepted it
// and never will.
func Once(ctx context.Context, sb driver.Sandbox, c *Call) (*Reply, error) {
	o := &once{sb: sb, call: c, stdout: &head{w: c.Stdout}, stderr: &tail{w: c.Stderr}}
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		reply, err := o.attempt(ctx)
		if err == nil && try < sendAgain && reply.Response != nil && reply.Response.Outcome == wire.NoSuchCall {
			continue
		}
		return reply, err
	}
}

// once is a call on its way.
type once struct {
	sb      driver.Sandbox
	call    *Call
	path    string // of a large input in the sandbox, once it is there
	stdout  *head
	stderr  *tail
	before  wire.Query    // what had been printed when the present attempt began
	nonce   string        // of the last runner's frames
	greeted bool          // a runner has said hello
	status  driver.Status // how a runner ended whose words were cut off
}

// attempt sends the call under a new id.
func (o *once) attempt(ctx context.Context) (*Reply, error) {
	id := newID()
	o.before = wire.Query{Stdout: o.stdout.size(), Stderr: o.stderr.size()}
	env, err := o.describe(ctx, id)
	if err != nil {
		return nil, err
	}
	reply, err := o.exchange(ctx, id, env)
	lost, status := false, o.status
	for try := 0; try < askAgain && o.unanswered(reply, err); try++ {
		if _, silent := errors.AsType[*NotRunner](err); silent && lost {
			break // it may be no runner at all, and has been asked once
		}
		lost = true
		if !pause.For(ctx, time.Duration(1<<try)*askPause) {
			break
		}
		began := time.Now()
		reply, err = o.exchange(ctx, id, o.ask(callproc.ModeResult))
		if time.Since(began) > askSteady {
			try = -1 // a long call may see many connections break that held for a while
		}
	}
	// Of a call that was given up before it arrived, the runner says that it had been claimed.
	if ctx.Err() != nil && (err != nil || o.unanswered(reply, err)) {
		if lost {
			o.cancel(ctx, id)
		}
		return nil, ctx.Err()
	}
	if l, ok := errors.AsType[*Lost](err); ok && l.Err == nil {
		return nil, &NotRunner{Reason: "its output ends before the result does", Raw: l.Raw, Status: status}
	}
	if err == nil && reply.Response == nil && status != (driver.Status{}) {
		reply.Status = status // it has seen more of the end than the runner that was asked
	}
	return reply, err
}

// describe is the environment of the runner that makes the call.
func (o *once) describe(ctx context.Context, id string) ([]string, error) {
	req := o.call.request(ctx)
	env := []string{callproc.EnvMode + "=" + callproc.ModeOnce}
	switch {
	case o.call.Input.Path == "":
		env = append(env, callproc.EnvInput+"="+base64.StdEncoding.EncodeToString(o.call.Input.Data))
	case o.path == "":
		path, err := ship(ctx, o.sb, id, o.call)
		if err != nil {
			return nil, err
		}
		o.path = path
		fallthrough
	default:
		req.File = o.path
	}
	b, err := json.Marshal(req)
	return append(env, callproc.EnvRequest+"="+string(b)), err
}

// ask is the environment of a runner that is asked for the rest of the call.
func (o *once) ask(mode string) []string {
	b, _ := json.Marshal(wire.Query{Stdout: o.stdout.size() - o.before.Stdout, Stderr: o.stderr.size() - o.before.Stderr})
	return []string{callproc.EnvMode + "=" + mode, callproc.EnvQuery + "=" + string(b)}
}

// unanswered reports whether it is worth asking for the call's result: the connection broke, or a
// proxy has sent the call twice and this was the answer to the second.
func (o *once) unanswered(reply *Reply, err error) bool {
	if err == nil {
		return reply.Response != nil && reply.Response.Outcome == wire.Duplicate
	}
	if n, ok := errors.AsType[*NotRunner](err); ok {
		return n.silent && n.Status.Code == 0
	}
	_, lost := errors.AsType[*Lost](err)
	return lost && !errors.Is(err, driver.ErrSandboxGone)
}

// cancel ends a call whose connection is lost and whose context has ended.
func (o *once) cancel(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	o.exchange(ctx, id, o.ask(callproc.ModeCancel))
}

// How often, and after which first pause, a lost result is asked for, not counting connections that
// held for some time; and how often a call is sent that never arrived.
const (
	askAgain  = 8
	askPause  = 50 * time.Millisecond
	askSteady = 2 * time.Second
	sendAgain = 5
)

// inputDir is where large inputs go in a sandbox; the runner's function reads them from there.
const inputDir = "/tmp/.remote-box-in/"

// ship puts a large input into the sandbox.
func ship(ctx context.Context, sb driver.Sandbox, id string, c *Call) (string, error) {
	files, ok := sb.(driver.Files)
	if !ok {
		return "", fmt.Errorf("an input of %d bytes: this backend carries at most %d", c.Input.Size, wire.InlineMax)
	}
	f, err := c.Input.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	path := inputDir + id
	return path, files.WriteFile(ctx, path, f)
}

// exchange runs the runner once and reads the frames of call id from its output. *Lost means that
// they ended before the result did.
func (o *once) exchange(ctx context.Context, id string, env []string) (*Reply, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	nonce := rand.Text(26)
	o.nonce = nonce
	env = append(env, callproc.EnvNonce+"="+nonce, callproc.EnvCall+"="+id)
	files, hasFiles := o.sb.(driver.Files)
	if hasFiles {
		env = append(env, callproc.EnvState+"="+stateDir, callproc.EnvShared+"=1")
	}
	r, w := io.Pipe()
	stray := &head{}
	a := &answer{call: o.call, stdout: o.stdout, stderr: o.stderr}
	stderr := &tail{} // the runner's own
	read := make(chan error, 1)
	go func() {
		err := collect(wire.NewReader(r, nonce, stray), id, a)
		read <- err
		if _, lost := errors.AsType[*Lost](err); err != nil && !lost {
			stop() // nothing that it says now counts
		} else if err == nil {
			defer time.AfterFunc(endTime, stop).Stop()
		}
		io.Copy(io.Discard, r) // so that the process can end
	}()
	st, execErr := o.sb.Exec(running, &driver.Command{Args: []string{driver.RunnerArg}, Env: env, Stdout: w, Stderr: stderr})
	w.Close()
	err := <-read
	r.Close()
	o.greeted = o.greeted || a.greeted
	if frame, ok := errors.AsType[*wire.FrameError](err); ok {
		return nil, &NotRunner{Reason: frame.Reason, Raw: append(stray.bytes(), stderr.bytes()...)}
	}
	if _, lost := errors.AsType[*Lost](err); lost {
		switch {
		case execErr != nil:
			return nil, &Lost{Err: execErr}
		case !o.greeted:
			return nil, &NotRunner{Reason: "it ended without a hello", Raw: append(stray.bytes(), stderr.bytes()...), Status: st, silent: true}
		}
		o.status = st
		return nil, &Lost{Raw: stderr.bytes()}
	}
	if err != nil {
		return nil, err
	}
	if a.resp == nil || !a.resp.InFile {
		return a.reply()
	}
	if !hasFiles {
		return nil, &NotRunner{Reason: "a result in a file that this host can't see"}
	}
	return o.fetch(ctx, files, id, a)
}

// endTime is how long a runner may take to end once it has said everything.
const endTime = 5 * time.Second

// collect reads frames until the call's exit.
func collect(r *wire.Reader, id string, a *answer) error {
	for {
		f, err := r.Next()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return &Lost{}
		}
		if err != nil {
			return err
		}
		if f.Kind == wire.KindHello {
			var h wire.Hello
			if err := f.Decode(&h); err != nil {
				return err
			}
			if h.Version != wire.Version {
				return &VersionError{Runner: h.Version}
			}
			a.greeted = true
			continue
		}
		if !a.greeted {
			return &wire.FrameError{Reason: "its first frame is no hello"}
		}
		if f.Call != id {
			return &wire.FrameError{Reason: "a frame of another call"}
		}
		if end, err := a.add(&f); end {
			return err
		}
	}
}
