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
	"github.com/remote-box/remote/internal/rand"
	"github.com/remote-box/remote/internal/wire"
)

// Once makes a call in a sandbox to which no stream can be kept: with one Exec, whose environment
// holds the request. When the connection breaks before the result is there, the result is asked
// for again; the call itself is never repeated.
func Once(ctx context.Context, sb driver.Sandbox, c *Call) (*Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id := newID()
	req := c.request(ctx)
	env := []string{callproc.EnvMode + "=" + callproc.ModeOnce}
	if c.Input.Path == "" {
		env = append(env, callproc.EnvInput+"="+base64.StdEncoding.EncodeToString(c.Input.Data))
	} else {
		path, err := ship(ctx, sb, id, c)
		if err != nil {
			return nil, err
		}
		req.File = path
	}
	b, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	env = append(env, callproc.EnvRequest+"="+string(b))
	reply, err := exchange(ctx, sb, id, c, env)
	for try := 0; retryable(ctx, err) && try < askAgain; try++ {
		if !sleep(ctx, time.Duration(1<<try)*askPause) {
			break
		}
		var again *Reply
		again, err = exchange(ctx, sb, id, c, []string{callproc.EnvMode + "=" + callproc.ModeResult})
		if err == nil {
			reply = again
		}
	}
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	return reply, err
}

// How often, and after which first pause, a lost result is asked for.
const (
	askAgain = 6
	askPause = 50 * time.Millisecond
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

func retryable(ctx context.Context, err error) bool {
	_, lost := errors.AsType[*Lost](err)
	return lost && ctx.Err() == nil && !errors.Is(err, driver.ErrSandboxGone)
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// exchange runs the runner once and reads the frames of call id from its output. *Lost means that
// they ended before the result did.
func exchange(ctx context.Context, sb driver.Sandbox, id string, c *Call, env []string) (*Reply, error) {
	nonce := rand.Text(26)
	env = append(env, callproc.EnvNonce+"="+nonce, callproc.EnvCall+"="+id)
	r, w := io.Pipe()
	stray := &head{}
	a := &answer{call: c, stdout: &head{w: c.Stdout}, stderr: &tail{w: c.Stderr}}
	stderr := &tail{} // the runner's own
	read := make(chan error, 1)
	go func() {
		err := collect(wire.NewReader(r, nonce, stray), id, a)
		read <- err
		io.Copy(io.Discard, r) // so that the process can end
	}()
	st, execErr := sb.Exec(ctx, &driver.Command{Args: []string{driver.RunnerArg}, Env: env, Stdout: w, Stderr: stderr})
	w.Close()
	err := <-read
	r.Close()
	if frame, ok := errors.AsType[*wire.FrameError](err); ok {
		return nil, &NotRunner{Reason: frame.Reason, Raw: append(stray.bytes(), stderr.bytes()...)}
	}
	if _, lost := errors.AsType[*Lost](err); lost {
		switch {
		case execErr != nil:
			return nil, &Lost{Err: execErr}
		case !a.greeted:
			return nil, &NotRunner{Reason: "it ended without a hello", Raw: append(stray.bytes(), stderr.bytes()...), Status: st}
		}
		return nil, &Lost{Raw: stderr.bytes()}
	}
	if err != nil {
		return nil, err
	}
	return a.reply()
}

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
		if f.Call != id {
			return &wire.FrameError{Reason: "a frame of another call"}
		}
		if end, err := a.add(&f); end {
			return err
		}
	}
}
