package driver

import (
	"context"
	"os"
)

// Local is implemented by sandboxes that are processes of this host: they share its file system,
// and their processes are children of this program. The core then passes payloads as files, and
// makes a sandbox's only call with one process instead of two.
type Local interface {
	Sandbox
	// Spawn starts cmd in the sandbox with the given files as its descriptors 0, 1, 2, 3 and so
	// on; cmd's own Stdin, Stdout and Stderr are not used. The files stay the caller's to close.
	Spawn(cmd *Command, files []*os.File) (Process, error)
	// StateDir is a directory, outside the function's working directory, that both sides may use
	// for payloads. It is removed with the sandbox.
	StateDir() string
}

// Process is a process that Local.Spawn started, the leader of a process group of its own.
type Process interface {
	// Wait returns when the process itself has ended. It must be called, once.
	Wait() (Status, error)
	// Kill ends the process and everything that it started, also what left its process group. It
	// may be called at any time, also after Wait.
	Kill(ctx context.Context)
}
