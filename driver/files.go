package driver

import (
	"context"
	"io"
)

// Files is implemented by sandboxes whose provider moves files without a process in the sandbox.
// Sandboxes that are no Streamer need it for inputs and results larger than 64 KiB.
type Files interface {
	Sandbox
	// ReadFile opens the file at an absolute path. The caller closes it.
	ReadFile(ctx context.Context, path string) (io.ReadCloser, error)
	// WriteFile makes or replaces the file at an absolute path, and the directories above it.
	WriteFile(ctx context.Context, path string, r io.Reader) error
}
