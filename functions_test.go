package remote_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"github.com/remote-box/remote"
)

type greeting struct {
	Name string `json:"name"`
}

type greeted struct {
	Greeting string `json:"greeting"`
}

func greet(_ context.Context, in greeting) (greeted, error) {
	return greeted{"Hello " + in.Name + "!"}, nil
}

type counterOf struct{ by int }

func (c *counterOf) Add(_ context.Context, n int) (int, error) { return n + c.by, nil }

func double[T int | string](_ context.Context, in []T) ([]T, error) { return append(in, in...), nil }

// tool is what a framework wraps functions in; its helper calls New for the user.
type tool struct {
	name string
	call func(context.Context, string) (string, error)
}

func newTool(f func(context.Context, string) (string, error), opts ...remote.Option) tool {
	r := remote.New(f, opts...)
	return tool{r.Name(), r.Call}
}

func shout(_ context.Context, s string) (string, error) { return strings.ToUpper(s), nil }

var (
	Greet = remote.New(greet, remote.Description("Greets."))

	adder       = &counterOf{by: 3}
	add         = remote.New(adder.Add)
	doubleInts  = remote.New(double[int])
	doubleTexts = remote.New(double[string])
	literal     = remote.New(func(_ context.Context, n int) (int, error) { return n * n, nil }, remote.Name("square"))
	fromHelper  = newTool(shout)

	// half fails for odd numbers.
	half = remote.New(func(_ context.Context, n int) (int, error) {
		if n%2 != 0 {
			return 0, fmt.Errorf("%d: %w", n, errOdd)
		}
		return n / 2, nil
	}, remote.Name("half"))

	errOdd = remote.RegisterError(errors.New("odd"))

	hang = remote.New(func(ctx context.Context, _ int) (int, error) {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}, remote.Name("hang"), remote.Timeout(hangTime), remote.Output(nil, nil))

	big = remote.New(func(_ context.Context, n int) (string, error) { return strings.Repeat("x", n), nil },
		remote.Name("big"), remote.MaxResult(1000))

	pid = remote.New(func(context.Context, int) (int, error) { return os.Getpid(), nil }, remote.Name("pid"))

	anything = remote.New(func(_ context.Context, v any) (any, error) { return v, nil }, remote.Name("anything"))

	nothing = remote.New(func(context.Context, struct{}) (*greeted, error) { return nil, nil }, remote.Name("nothing"))
)

var seen atomic.Int64 // what the middleware below saw, on the host

var wrapped = remote.New(func(_ context.Context, n int) (int64, error) { return seen.Load() + int64(n), nil },
	remote.Name("wrapped"),
	remote.Middleware(
		func(next remote.Handler) remote.Handler {
			return func(ctx context.Context, c *remote.Invocation) (any, error) {
				if c.Input == 13 {
					return nil, fmt.Errorf("%s is not approved for %v", c.Name, c.Input)
				}
				return next(ctx, c)
			}
		},
		func(next remote.Handler) remote.Handler {
			return func(ctx context.Context, c *remote.Invocation) (any, error) {
				seen.Add(1000)
				c.Input = c.Input.(int) + 1
				out, err := next(ctx, c)
				if err != nil {
					return nil, err
				}
				return out.(int64) * 10, nil
			}
		},
	))

// caught runs f while packages initialise and returns what it panicked with.
func caught(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return ""
}

var (
	panicTwice = caught(func() {
		remote.New(shout, remote.Name("twice"))
		remote.New(shout, remote.Name("twice"))
	})
	panicLiteral = caught(func() { remote.New(func(context.Context, int) (int, error) { return 0, nil }) })
	panicNil     = caught(func() { remote.New[int, int](nil) })
	panicIn      = caught(func() {
		remote.New(func(context.Context, fmt.Stringer) (int, error) { return 0, nil }, remote.Name("in"))
	})
	panicOut     = caught(func() { remote.New(func(context.Context, int) (error, error) { return nil, nil }, remote.Name("out")) })
	panicWrapper = caught(func() { remote.New(shout, remote.Name("wrapper"), remote.Middleware(passOn, nil)) })
	panicError   = caught(func() { remote.RegisterError(errors.New("odd")) })
)

func passOn(next remote.Handler) remote.Handler { return next }

var noHandler = remote.New(shout, remote.Name("noHandler"),
	remote.Middleware(passOn, func(remote.Handler) remote.Handler { return nil }))

// picky is an input that its own method may refuse.
type picky struct {
	Order struct{ Amount amount }
}

type amount int

func (a *amount) UnmarshalJSON(b []byte) error {
	if string(b) != "1" {
		return fmt.Errorf("%s is too much", b)
	}
	*a = 1
	return nil
}

// vague is an input with a field that can be written, but not read.
type vague struct{ What fmt.Stringer }

var (
	choose = remote.New(func(_ context.Context, p picky) (int, error) { return int(p.Order.Amount), nil }, remote.Name("choose"))
	guess  = remote.New(func(_ context.Context, v vague) (string, error) { return v.What.String(), nil }, remote.Name("guess"))
)
