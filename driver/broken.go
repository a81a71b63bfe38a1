package driver

import (
	"context"
	"io"
)

// BrokenStream is the error of an Exec whose connection broke while its process, which may go on,
// can be listened to once more. Calls do not need it: their runner is asked for what is missing.
type BrokenStream struct {
	Err error // what broke it
	// Follow waits for the process to end, as Exec does, and ends it when ctx ends. What the process
	// prints meanwhile is written to stdout and stderr; what it printed while nobody listened is
	// lost. It may be called once.
	Follow func(ctx context.Context, stdout, stderr io.Writer) (Status, error)
}

func (e *BrokenStream) Error() string { return e.Err.Error() }

// Unwrap returns what broke the connection.
func (e *BrokenStream) Unwrap() error { return e.Err }
