package remote

import (
	"context"
	"fmt"
	"reflect"

	"github.com/remote-box/remote/internal/codec"
	"github.com/remote-box/remote/internal/registry"

	// The runner is linked by generated main packages only; imported here it is vendored with
	// this package and its checksums are known.
	_ "github.com/remote-box/remote/runner"
)

// Remote is a function that runs in a sandbox. Its methods may be called at once.
type Remote[In, Out any] struct {
	fn func(context.Context, In) (Out, error)
	f  *function
}

// New registers fn, which must be done while packages initialise, and returns its remote form:
//
//	var Greet = remote.New(greet)
//
// The function is known by the import path of the package whose variable or init function calls
// New, however many helpers lie between, and its own name or [Name]. New does no I/O. It panics,
// naming the place and the remedy, if fn is nil or a function literal without a Name, if another
// function has the same identity, if In or Out is an interface with methods, which nothing could
// be decoded into, and if packages have been initialised already: a sandbox could never see such a
// function.
func New[In, Out any](fn func(context.Context, In) (Out, error), opts ...Option) *Remote[In, Out] {
	s := newSettings(opts)
	r := &registry.Function{Description: s.description, Backend: s.backend}
	if fn != nil {
		r.Name = registry.FunctionName(fn)
	}
	if s.name != "" {
		r.Name = s.name
	}
	d, initialising := registry.Declaring()
	checkDeclaration(fn == nil, initialising, r.Name, d)
	in, out := reflect.TypeFor[In](), reflect.TypeFor[Out]()
	checkType("input", in, d)
	checkType("output", out, d)
	checkMiddleware(s.middleware, d)
	r.Package, r.File, r.Line, r.Main, r.Root = d.Package, d.File, d.Line, d.Main, s.root
	r.In, r.Out = in.String(), out.String()
	r.Fingerprint = registry.Fingerprint(in, out)
	r.Prepare = func(input []byte) (func(context.Context) (any, error), error) {
		var v In
		if err := codec.Unmarshal(input, &v); err != nil {
			return nil, err
		}
		return func(ctx context.Context) (any, error) { return fn(ctx, v) }, nil
	}
	if other, ok := registry.Add(r); !ok {
		panic(fmt.Sprintf("remote.New: %s is registered twice, at\n\t%s\nand at\n\t%s\nGive one of them a name of its own with remote.Name.", r.ID(), other.Pos(), r.Pos()))
	}
	f := &Remote[In, Out]{fn: fn, f: &function{Function: r, settings: s}}
	if !registry.RunnerBuild {
		r.Call, r.ServeHost = f.callJSON, serveHost
	}
	return f
}

// callJSON is Call with JSON at both ends.
func (r *Remote[In, Out]) callJSON(ctx context.Context, input []byte) ([]byte, error) {
	var in In
	if err := codec.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("%s: the input is no %s: %w", r.f.ID(), r.f.In, err)
	}
	out, err := r.Call(ctx, in)
	if err != nil {
		return nil, err
	}
	return codec.Marshal(out)
}

// checkDeclaration panics for what can't be registered.
func checkDeclaration(isNil, initialising bool, name string, d registry.Declaration) {
	at := fmt.Sprintf("%s:%d", d.File, d.Line)
	switch {
	case !initialising:
		panic("remote.New: called after packages were initialised, where the sandbox could never see it. Declare the function at package level instead: var X = remote.New(f)")
	case isNil:
		panic("remote.New: the function is nil, at " + at)
	case name == "":
		panic("remote.New: a function literal has no name that lasts, at " + at + ". Give it one: remote.New(func…, remote.Name(\"resize\"))")
	}
}

// checkType panics for a type that no JSON can be decoded into, whatever the value.
func checkType(what string, t reflect.Type, d registry.Declaration) {
	if t.Kind() == reflect.Interface && t.NumMethod() > 0 {
		panic(fmt.Sprintf("remote.New: the %s type %s is an interface with methods, which JSON can't be decoded into, at %s:%d. Use a concrete type, such as a struct with a field for each case, or any", what, t, d.File, d.Line))
	}
}

func checkMiddleware(ms []func(Handler) Handler, d registry.Declaration) {
	for i, m := range ms {
		if m == nil {
			panic(fmt.Sprintf("remote.New: middleware %d is nil, at %s:%d. Leave it out, or write one that does nothing: func(next remote.Handler) remote.Handler { return next }", i, d.File, d.Line))
		}
	}
}

// Name is the function's name within its package.
func (r *Remote[In, Out]) Name() string { return r.f.Name }

// ID is the function's identity, its package and name: what `remote-box call` takes.
func (r *Remote[In, Out]) ID() string { return r.f.ID() }

// Description is what was given with the option [Description].
func (r *Remote[In, Out]) Description() string { return r.f.Description }

// Local calls the function in place, in this process: no sandbox, no middleware, no timeout.
func (r *Remote[In, Out]) Local(ctx context.Context, in In) (Out, error) { return r.fn(ctx, in) }

// Call runs the function in a sandbox: that of ctx's session if there is one (see [Session]), or
// one of its own that is destroyed before Call returns. Inside a sandbox it runs in place.
//
// When ctx ends, or the function's [Timeout] is over, the work in the sandbox is ended and the
// error satisfies errors.Is with context.Canceled or context.DeadlineExceeded; Call returns when
// nothing of it is left, at most some seconds later. The function may have done some of its work
// then, as also on an [ExitError], a [ProtocolError] and errors that satisfy errors.Is(err,
// ErrSandboxGone).
func (r *Remote[In, Out]) Call(ctx context.Context, in In) (Out, error) {
	if registry.InSandbox() {
		return r.fn(ctx, in)
	}
	var out Out
	if len(r.f.middleware) == 0 {
		err := r.f.call(ctx, in, &out)
		if err != nil {
			var zero Out
			return zero, err
		}
		return out, nil
	}
	return r.throughMiddleware(ctx, in)
}

func (r *Remote[In, Out]) throughMiddleware(ctx context.Context, in In) (Out, error) {
	var zero Out
	h := Handler(func(ctx context.Context, c *Invocation) (any, error) {
		in, ok := c.Input.(In)
		if !ok && c.Input != nil {
			return nil, fmt.Errorf("middleware of %s passed on a %T, not a %s", c.Function, c.Input, r.f.In)
		}
		var out Out
		if err := r.f.call(ctx, in, &out); err != nil {
			return nil, err
		}
		return out, nil
	})
	for i := len(r.f.middleware) - 1; i >= 0; i-- {
		if h = r.f.middleware[i](h); h == nil {
			return zero, fmt.Errorf("middleware %d of %s returned a nil Handler; to do nothing it returns next", i, r.f.ID())
		}
	}
	v, err := h(ctx, &Invocation{Function: r.f.ID(), Name: r.f.Name, Description: r.f.Description, Input: in})
	if err != nil {
		return zero, err
	}
	out, ok := v.(Out)
	if !ok && v != nil {
		return zero, fmt.Errorf("middleware of %s returned a %T, not a %s", r.f.ID(), v, r.f.Out)
	}
	return out, nil
}

// InRemoteExecution reports whether this code runs inside a sandbox.
func InRemoteExecution() bool { return registry.InSandbox() }
