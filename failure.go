package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/client"
	"github.com/remote-box/remote/internal/wire"
)

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
