package remote

import (
	"context"
	"io"
)

type backendKey struct{}

// WithBackend returns a context with which calls outside of any session run on b, whatever backend
// their functions were given: to choose one at run time, or to keep tests local.
func WithBackend(ctx context.Context, b Backend) context.Context {
	if b == nil {
		panic("remote.WithBackend: the backend is nil")
	}
	return context.WithValue(ctx, backendKey{}, b)
}

type outputKey struct{}

type outputs struct{ stdout, stderr io.Writer }

// WithOutput returns a context whose calls write what functions print to stdout and stderr, in
// place of what the option [Output] says; nil discards. Errors of the writers are ignored, as there.
func WithOutput(ctx context.Context, stdout, stderr io.Writer) context.Context {
	return context.WithValue(ctx, outputKey{}, outputs{stdout, stderr})
}
