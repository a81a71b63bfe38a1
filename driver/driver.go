// Package driver is what a backend implements: somewhere that sandboxes run. Programs that only
// call functions need package remote; this one is for those who add a backend.
//
// A backend is two small interfaces, [Backend] and [Sandbox], and the optional ones below for what
// not every provider can do. Package backends/backendtest holds any backend to this contract.
package driver

import (
	"context"
	"errors"
	"io"
)

// ErrSandboxGone says that a sandbox no longer exists: it expired, or it was killed or deleted
// from outside. A sandbox that was paused from outside is resumed by its backend instead.
var ErrSandboxGone = errors.New("the sandbox is gone")

// Backend makes sandboxes. Implementations are plain structs whose zero fields mean the defaults;
// all methods may be called at once from many goroutines.
type Backend interface {
	// Name is the backend's short name, such as "subprocess". It is written into session refs.
	Name() string

	// Start makes a sandbox. When it returns an error, also because ctx ended, nothing is left of
	// what it had begun to make.
	Start(ctx context.Context, spec Spec) (Sandbox, error)

	// Attach finds a sandbox by the id that its Sandbox.ID once returned, possibly in another
	// process, and resumes it if it is paused. The error of a sandbox that no longer exists
	// satisfies errors.Is(err, ErrSandboxGone).
	Attach(ctx context.Context, id string, spec Spec) (Sandbox, error)
}

// Spec says what a sandbox is for.
type Spec struct {
	// Program makes the runner that the sandbox executes.
	Program Program
	// Image is the image that the sandbox was made from, as an attaching session's ref tells;
	// empty when a new sandbox is made.
	Image string
	// Labels say whose sandbox it is, for people and for sweepers; backends write them where
	// their provider keeps such things. They hold no secrets.
	Labels map[string]string
	// Once says that the sandbox serves a single call and is closed right after it.
	Once bool
}

// Program is the program whose functions are called, as the backend sees it.
type Program interface {
	// Name names the program in lock files: its module, or "main:" and its main package.
	Name() string
	// Root is the directory of its sources. It is an error that says what to do if there is none,
	// as on a host where a deployed program runs.
	Root() (dir string, err error)
	// Runner returns the path of a runner for t, building it first if that is needed.
	Runner(ctx context.Context, t Target) (path string, err error)
	// Locked returns the image that the program's lock names for a backend and an image prefix.
	Locked(backend, prefix string) (image string, ok bool, err error)
}

// Target is the platform that a runner is built for and the choices of its build.
type Target struct {
	OS, Arch string
	Build    Build
	// Host says that the runner is a process of this very host: a program that called runner.Main
	// then serves as its own runner.
	Host bool
}

// Build chooses how a runner is compiled. The zero value is a static binary without cgo.
type Build struct {
	CGO  bool     // compile with cgo; the runner then needs the C library it was linked with
	Tags []string // build tags, besides those that the host program was built with
	Env  []string // further variables for the go command ("CC=clang"); GOOS and the like are the target's
}

// Sandbox is one running sandbox. All methods may be called at once from many goroutines.
type Sandbox interface {
	// ID identifies the sandbox to Backend.Attach. It is stable and holds no secret.
	ID() string

	// Exec runs one process in the sandbox until it has ended and all its output is written. When
	// ctx ends, the process and everything it started are killed and Exec returns ctx's error.
	// Other errors mean that the process may not have run, or that what became of it is unknown;
	// errors.Is(err, ErrSandboxGone) tells when there is no point in trying again.
	Exec(ctx context.Context, cmd *Command) (Status, error)

	// Close destroys the sandbox and everything that runs in it. It is called even when the work
	// failed, with a context of its own; a sandbox that is already gone is no error.
	Close(ctx context.Context) error
}

// Command is a process to be run in a sandbox.
type Command struct {
	// Args is the program and its arguments. Args[0] equal to RunnerArg stands for the sandbox's
	// runner.
	Args []string
	// Env is added to the sandbox's environment, as "NAME=value".
	Env []string
	// Dir is the working directory; the sandbox's own when empty.
	Dir string
	// Stdin may be nil, for an empty one. Only a Streamer delivers it while it is being written.
	Stdin io.Reader
	// Stdout and Stderr may be nil, to discard. A backend whose provider merges them writes all
	// to Stdout.
	Stdout, Stderr io.Writer
}

// RunnerArg as Command.Args[0] stands for the sandbox's runner.
const RunnerArg = "remote-box-runner"

// Status is how a process ended.
type Status struct {
	Code   int    // exit code; -1 when a signal ended it
	Signal string // the signal's name, such as "SIGKILL"
	OOM    bool   // it was killed because memory ran out, where the backend can tell
}

// Streamer is implemented by sandboxes in which a process can be talked to: Exec delivers
// Command.Stdin while it is being written and passes output on as it is produced. Sessions then
// keep one supervisor running in the sandbox instead of an Exec for every call.
type Streamer interface {
	Sandbox
	// Streams is a marker.
	Streams()
}

// PauseSemantics is what lasts when a sandbox is paused.
type PauseSemantics int

const (
	// PauseNone means that the backend has no pause: processes end, and the sandbox is left as it
	// is. Its files are there again as long as it is, but nobody keeps it for that.
	PauseNone PauseSemantics = iota
	// PauseStop means that the backend stops the sandbox, and keeps its files until it is resumed;
	// processes end.
	PauseStop
	// PauseSuspend keeps memory and files: processes go on where they were.
	PauseSuspend
)

// String names s.
func (s PauseSemantics) String() string {
	switch s {
	case PauseNone:
		return "None"
	case PauseStop:
		return "Stop"
	case PauseSuspend:
		return "Suspend"
	}
	return "PauseSemantics(?)"
}

// Pausable is implemented by backends that know what their pause keeps; it is known from the
// backend value alone, before anything starts. Backends without it have PauseNone.
type Pausable interface {
	Backend
	PauseSemantics() PauseSemantics
}

// Pauser is implemented by sandboxes that can be paused. The core has ended every stream to the
// sandbox before it calls Pause.
type Pauser interface {
	Sandbox
	// Pause returns when the sandbox is paused and can be attached to from anywhere.
	Pause(ctx context.Context) error
	// Resume makes a paused sandbox run again. It is not an error if it runs already.
	Resume(ctx context.Context) error
}
