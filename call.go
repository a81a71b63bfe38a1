package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
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

// ended is the error of a call whose context is over.
func (f *function) ended(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, err) {
		return fmt.Errorf("%s: %w: %w", f.ID(), err, cause)
	}
	return fmt.Errorf("%s: %w", f.ID(), err)
}

// failed makes the caller's error of a call that brought no reply.
func (f *function) failed(ctx context.Context, err error) error {
	if errors.Is(err, ErrSessionClosed) {
		return fmt.Errorf("%s: %w", f.ID(), ErrSessionClosed)
	}
	if _, away := errors.AsType[*client.Unreached](err); away && ctx.Err() != nil {
		return fmt.Errorf("%w: %w", f.ended(ctx), err)
	}
	if _, early := errors.AsType[*building](err); early && ctx.Err() != nil {
		return fmt.Errorf("%w while its runner was being built, which counts", f.ended(ctx))
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || isLost(err)) {
		return f.ended(ctx)
	}
	if e, ok := errors.AsType[*client.NotRunner](err); ok {
		if e.Status.Code != 0 || e.Status.OOM {
			return &ExitError{Function: f.ID(), Code: e.Status.Code, Signal: e.Status.Signal, OOM: e.Status.OOM, Stderr: string(e.Raw)}
		}
		return &ProtocolError{Function: f.ID(), Reason: e.Reason, Raw: string(e.Raw), err: err}
	}
	if e, ok := errors.AsType[*client.VersionError](err); ok {
		return f.skew("", e.Error())
	}
	if e, ok := errors.AsType[*wire.FrameError](err); ok {
		return &ProtocolError{Function: f.ID(), Reason: e.Reason, err: err}
	}
	if e, ok := errors.AsType[*callproc.TooLarge](err); ok {
		return f.tooLarge(e)
	}
	return fmt.Errorf("%s: %w", f.ID(), err)
}

func (f *function) tooLarge(e *callproc.TooLarge) error {
	return &ProtocolError{Function: f.ID(), Reason: "its result is " + e.Error() + " bytes; raise it with remote.MaxResult", err: e}
}

func isLost(err error) bool {
	_, ok := errors.AsType[*client.Lost](err)
	return ok
}

// result makes the caller's result of a reply.
func (f *function) result(ctx context.Context, r *client.Reply, image string, out any) error {
	if r.Response == nil {
		return f.noResponse(ctx, r)
	}
	resp := r.Response
	switch resp.Outcome {
	case wire.OK:
		return f.decode(r, out)
	case wire.Failed:
		if ctx.Err() != nil {
			return f.late(ctx, newExecutionError(f.ID(), resp.Error))
		}
		return newExecutionError(f.ID(), resp.Error)
	case wire.Panicked:
		e := &PanicError{Function: f.ID(), Value: string(resp.Value), Stack: string(resp.Stack)}
		if resp.Error != nil {
			e.err = newExecutionError(f.ID(), resp.Error).err
		}
		return e
	case wire.BadInput:
		return &EncodeError{Function: f.ID(), Field: resp.Field, Reason: "the sandbox can't decode it: " + string(resp.Message)}
	case wire.BadOutput:
		return &EncodeError{Function: f.ID(), Field: resp.Field, Reason: string(resp.Message), Ran: true}
	case wire.Unknown, wire.Skew, wire.Incompatible:
		return f.skew(image, string(resp.Message))
	case wire.Gone:
		return fmt.Errorf("%s: %w: %s", f.ID(), ErrSandboxGone, resp.Message)
	case wire.Unrecorded:
		return fmt.Errorf("%s: the sandbox could not start the call: %s", f.ID(), resp.Message)
	case wire.NoSuchCall:
		return fmt.Errorf("%s: the connection broke before the call reached the sandbox; nothing ran", f.ID())
	case wire.Duplicate:
		return &ProtocolError{Function: f.ID(), Reason: "the call was delivered twice; it ran once, and its result is lost"}
	}
	return &ProtocolError{Function: f.ID(), Reason: fmt.Sprintf("an unknown outcome %q", resp.Outcome)}
}

// noResponse is the error of a call whose process ended without an answer.
func (f *function) noResponse(ctx context.Context, r *client.Reply) error {
	if ctx.Err() != nil {
		return f.ended(ctx)
	}
	if r.Late {
		return fmt.Errorf("%s: %w", f.ID(), context.DeadlineExceeded)
	}
	if e, ok := errors.AsType[*callproc.TooLarge](r.Broken); ok {
		return f.tooLarge(e)
	}
	if r.Broken != nil {
		return &ProtocolError{Function: f.ID(), Reason: r.Broken.Error(), Raw: string(r.Raw), err: r.Broken}
	}
	return &ExitError{
		Function: f.ID(), Code: r.Status.Code, Signal: r.Status.Signal, OOM: r.Status.OOM,
		Stderr: string(r.Stderr),
	}
}

// late is the error of a function that returned one after the call's time was up: the context's,
// and what the function made of it.
func (f *function) late(ctx context.Context, err *ExecutionError) error {
	if errors.Is(err, ctx.Err()) {
		return err
	}
	return &lateError{ctx: f.ended(ctx), ExecutionError: err}
}

// lateError is a function's error that also is its context's.
type lateError struct {
	*ExecutionError
	ctx error
}

func (e *lateError) Error() string   { return e.ctx.Error() + " (" + e.Message + ")" }
func (e *lateError) Unwrap() []error { return []error{e.ctx, e.ExecutionError} }

// skew is the error of a runner built from other sources.
func (f *function) skew(image, reason string) error {
	if image == "" {
		image = "a runner without the function's present form"
	}
	return &VersionSkewError{
		Function: f.ID(), Host: "the types " + f.In + " and " + f.Out, Sandbox: image, Reason: reason,
	}
}

// decode reads the output.
func (f *function) decode(r *client.Reply, out any) error {
	err, raw := error(nil), r.Data
	if r.Path == "" {
		err = codec.Unmarshal(r.Data, out)
	} else {
		raw, err = decodeFile(r.Path, r.Response.Size, out)
	}
	if err != nil {
		reflect.ValueOf(out).Elem().SetZero()
		return &ProtocolError{Function: f.ID(), Reason: "the result is no " + f.Out + ": " + err.Error(), Raw: string(raw[:min(len(raw), 4<<10)]), err: err}
	}
	return nil
}

// decodeFile reads an output that is in a file; raw is its beginning if that fails.
func decodeFile(name string, size int64, out any) (raw []byte, err error) {
	file, err := codec.Open(name, size)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err = codec.UnmarshalAt(file, size, out); err != nil {
		raw = make([]byte, min(size, 4<<10))
		n, _ := file.ReadAt(raw, 0)
		raw = raw[:n]
	}
	return raw, err
}
