package remote

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/client"
	"github.com/remote-box/remote/internal/codec"
	"github.com/remote-box/remote/internal/wire"
)

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
