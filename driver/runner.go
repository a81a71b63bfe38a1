package driver

import (
	"context"
	"errors"
)

// InRunner implements Start and Attach for backends that are compiled into a runner (build tag
// remotebox_runner): host-only code is left out there, but the backend values that functions were
// registered with must still be Backends.
type InRunner struct{}

var errInRunner = errors.New("a runner has no backends: inside a sandbox functions are called in place")

// Start implements Backend.
func (InRunner) Start(context.Context, Spec) (Sandbox, error) { return nil, errInRunner }

// Attach implements Backend.
func (InRunner) Attach(context.Context, string, Spec) (Sandbox, error) { return nil, errInRunner }
