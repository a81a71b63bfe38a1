// Package agent is a small agent framework. That its tools run in sandboxes is its own business.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/remote-box/remote"
)

// Tool is something that a model can call with JSON.
type Tool struct {
	Name, Description string
	Run               func(ctx context.Context, input string) (string, error)
}

// ErrDenied says that the person at the gate said no.
var ErrDenied = errors.New("denied")

// Approver is asked before each call.
type Approver func(tool, input string) bool

type approverKey struct{}

// WithApprover returns a context whose calls are put to a.
func WithApprover(ctx context.Context, a Approver) context.Context {
	return context.WithValue(ctx, approverKey{}, a)
}

// NewTool makes a tool of a function. It is called for package variables, like remote.New, which
// finds the package of whoever calls NewTool by itself.
func NewTool[In, Out any](name, description string, f func(context.Context, In) (Out, error)) Tool {
	r := remote.New(f, remote.Name(name), remote.Description(description), remote.Middleware(gate))
	return Tool{name, description, func(ctx context.Context, input string) (string, error) {
		var in In
		if err := json.Unmarshal([]byte(input), &in); err != nil {
			return "", fmt.Errorf("%s: its input: %w", name, err)
		}
		out, err := r.Call(ctx, in)
		if err != nil {
			return "", err
		}
		answer, err := json.Marshal(out)
		return string(answer), err
	}}
}

// gate is middleware: it runs here, on the host, whatever the sandbox does.
func gate(next remote.Handler) remote.Handler {
	return func(ctx context.Context, c *remote.Invocation) (any, error) {
		input, err := json.Marshal(c.Input)
		if err != nil {
			return nil, err
		}
		approve, _ := ctx.Value(approverKey{}).(Approver)
		if approve == nil || !approve(c.Name, string(input)) {
			return nil, fmt.Errorf("%s: %w", c.Name, ErrDenied)
		}
		return next(ctx, c)
	}
}
