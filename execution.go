package remote

import (
	"github.com/remote-box/remote/internal/errchain"
	"github.com/remote-box/remote/internal/wire"
)

// newExecutionError rebuilds a function's error.
func newExecutionError(function string, e *wire.Error) *ExecutionError {
	if e == nil {
		e = &wire.Error{Message: "an error without a description"}
	}
	return &ExecutionError{
		Function:  function,
		Type:      e.Type,
		Message:   string(e.Message),
		Traceback: string(e.Detail),
		err:       errchain.Decode(e),
	}
}
