package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/client"
	"github.com/remote-box/remote/internal/codec"
	"github.com/remote-box/remote/internal/registry"
	"github.com/remote-box/remote/internal/trace"
	"github.com/remote-box/remote/internal/wire"
)

// closeTime is how long destroying a sandbox may take; its backend's expiry is behind it.
const closeTime = 30 * time.Second

// function is a Remote without its types.
type function struct {
	*registry.Function
	settings
}

// call makes one call. in is a value of the input type, out a pointer to one of the output type.
func (f *function) call(ctx context.Context, in, out any) error {
	if err := ctx.Err(); err != nil {
		return f.ended(ctx)
	}
	input, err := f.encode(in)
	if err != nil {
		return err
	}
	if input.Path != "" {
		defer os.Remove(input.Path)
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	c := &client.Call{
		Function: f.ID(), Fingerprint: f.Fingerprint, Trace: trace.From(ctx), Input: input,
		Stdout: f.stdout, Stderr: f.stderr, MaxResult: f.maxResult,
	}
	if o, ok := ctx.Value(outputKey{}).(outputs); ok {
		c.Stdout, c.Stderr = o.stdout, o.stderr
	}
	var reply *client.Reply
	var image string
	if s := sessionFrom(ctx); s != nil {
		reply, image, err = s.call(ctx, f, c)
	} else {
		reply, image, err = f.callOnce(ctx, c)
	}
	if reply != nil && reply.Path != "" {
		defer os.Remove(reply.Path)
	}
	if err != nil {
		return f.failed(ctx, err)
	}
	return f.result(ctx, reply, image, out)
}

// encode makes the request's payload: in memory, or in a file if it is large.
func (f *function) encode(in any) (client.Input, error) {
	spill := codec.Spill{Limit: wire.InlineMax, Create: func() (*os.File, error) {
		return os.CreateTemp("", "remote-box-input-")
	}}
	err := codec.Encode(&spill, in)
	input := client.Input{Data: spill.Bytes(), Size: spill.Size()}
	if file := spill.File(); file != nil {
		input.Path = file.Name()
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		return input, nil
	}
	if input.Path != "" {
		os.Remove(input.Path)
	}
	if e, ok := errors.AsType[*codec.Error](err); ok {
		return input, &EncodeError{Function: f.ID(), Field: e.Field, Reason: e.Reason}
	}
	return input, fmt.Errorf("%s: writing its input: %w", f.ID(), err)
}

// on is the backend of calls without a session.
func (f *function) on(ctx context.Context) driver.Backend {
	if b, ok := ctx.Value(backendKey{}).(driver.Backend); ok {
		return b
	}
	if f.backend != nil {
		return f.backend
	}
	return defaultBackend()
}

// callOnce makes a call in a sandbox of its own.
func (f *function) callOnce(ctx context.Context, c *client.Call) (_ *client.Reply, image string, err error) {
	sb, err := f.on(ctx).Start(ctx, driver.Spec{Program: &program{f.Function}, Labels: labels(""), Once: true})
	if err != nil {
		return nil, "", err
	}
	defer func() {
		// A reply is worth more than the report of what its backend will expire anyway.
		if cerr := closeSandbox(ctx, sb); err != nil {
			err = errors.Join(err, cerr)
		}
	}()
	image = imageOf(sb)
	switch sb := sb.(type) {
	case driver.Local:
		r, err := client.Solo(ctx, sb, c)
		return keepFile(r), image, err
	case driver.Streamer:
		conn, err := client.Dial(ctx, sb)
		if err != nil {
			return nil, image, err
		}
		defer func() { conn.Close(context.WithoutCancel(ctx)) }()
		r, err := conn.Call(ctx, c)
		if err != nil {
			r, err = conn.Recover(ctx, c, err, func(ctx context.Context, _ *client.Conn) (*client.Conn, error) {
				again, err := client.Dial(ctx, sb)
				if err == nil {
					conn = again
				}
				return again, err
			})
		}
		return r, image, err
	}
	r, err := client.Once(ctx, sb, c)
	return r, image, err
}

// keepFile moves a result's file out of a sandbox that is about to be destroyed.
func keepFile(r *client.Reply) *client.Reply {
	if r == nil || r.Path == "" {
		return r
	}
	kept, err := os.CreateTemp(filepath.Dir(filepath.Dir(filepath.Dir(r.Path))), "result-")
	if err == nil {
		kept.Close()
		err = os.Rename(r.Path, kept.Name())
		r.Path = kept.Name()
	}
	if err != nil {
		r.Response, r.Path, r.Broken = nil, "", err
	}
	return r
}

// closeSandbox destroys a sandbox, also when ctx has ended.
func closeSandbox(ctx context.Context, sb driver.Sandbox) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	return sb.Close(ctx)
}

func imageOf(sb driver.Sandbox) string {
	if i, ok := sb.(driver.Imaged); ok {
		return i.Image()
	}
	return ""
}
