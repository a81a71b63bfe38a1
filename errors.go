package remote

import (
	"errors"
	"fmt"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/registry"
)

// ErrSandboxGone says that a sandbox no longer exists: it expired, or it was killed or deleted
// from outside. A session is not given a new one behind its caller's back.
var ErrSandboxGone = driver.ErrSandboxGone

// ErrSessionClosed says that a session was closed before or during a call.
var ErrSessionClosed = errors.New("the session is closed")

// ExecutionError says that the function ran and returned an error. errors.Is and errors.As reach
// through it: the standard library's well-known errors and those given to RegisterError are
// themselves again, wherever in the chain they stand; of others the text remains.
type ExecutionError struct {
	Function  string // identity
	Type      string // Go type of the error, as %T prints it
	Message   string // its text
	Traceback string // its %+v, where that says more than its text
	err       error
}

func (e *ExecutionError) Error() string { return e.Function + ": " + e.Message }

// Unwrap returns the error as far as it could be rebuilt.
func (e *ExecutionError) Unwrap() error { return e.err }

// PanicError says that the function panicked. If the panic's value was an error, errors.Is and
// errors.As reach it.
type PanicError struct {
	Function string
	Value    string // the panic's value, as fmt prints it
	Stack    string // of the goroutine that panicked, in the sandbox
	err      error
}

func (e *PanicError) Error() string { return e.Function + ": panic: " + e.Value }

// Unwrap returns the panic's value if it was an error.
func (e *PanicError) Unwrap() error { return e.err }

// ExitError says that the process in which the function ran ended before the function did: it
// called os.Exit, was killed, or crashed. The function may have done some of its work.
type ExitError struct {
	Function string
	Code     int    // exit code; -1 when a signal ended the process
	Signal   string // name of the signal, such as "SIGKILL", or ""
	OOM      bool   // memory ran out, where the backend can tell
	Stderr   string // its standard error: all of it, or the first KiB and the last three
}

func (e *ExitError) Error() string {
	how := fmt.Sprintf("exited with code %d", e.Code)
	if e.Signal != "" {
		how = "was ended by " + e.Signal
	}
	if e.OOM {
		how += " because memory ran out"
	}
	s := e.Function + ": its process " + how + " before the function returned"
	if e.Stderr != "" {
		s += "; the end of its standard error:\n" + e.Stderr
	}
	return s
}

// ProtocolError says that what came back is no answer: what should be a runner is none, or is
// broken, or lies. The function may have run.
type ProtocolError struct {
	Function string
	Reason   string
	Raw      string // what came instead, at most 8 KiB
	err      error
}

func (e *ProtocolError) Error() string {
	s := e.Function + ": no answer from the sandbox's runner: " + e.Reason
	if e.Raw != "" {
		s += fmt.Sprintf("; it said %q", e.Raw)
	}
	return s
}

// Unwrap returns the cause, if there is one.
func (e *ProtocolError) Unwrap() error { return e.err }

// EncodeError says that a value can't travel: JSON has no form for it, or would change it.
type EncodeError struct {
	Function string
	Field    string // path of the field, such as "Items[3].Name"; "" for the value itself
	Reason   string
	Ran      bool // the value is the function's output: the function ran. Otherwise nothing did.
}

func (e *EncodeError) Error() string {
	what := "its input can't travel"
	if e.Ran {
		what = "it ran, but its output can't travel"
	}
	s := e.Function + ": " + what + ": "
	if e.Field != "" {
		s += e.Field + ": "
	}
	return s + e.Reason
}

// MissingImageError says that the image that a function needs does not exist and that it may not
// be built now.
type MissingImageError struct {
	Backend string
	Image   string
}

func (e *MissingImageError) Error() string {
	return fmt.Sprintf("the %s image %s does not exist; build it with: remote-box build", e.Backend, e.Image)
}

// BuildError says that a runner or an image could not be built.
type BuildError struct {
	What string // the Go package, or the Dockerfile
	Line int    // of the Dockerfile, or 0
	Log  string // what the compiler or the build said, its end
	Err  error
}

func (e *BuildError) Error() string {
	s := "building " + e.What
	if e.Line > 0 {
		s += fmt.Sprintf(" (line %d)", e.Line)
	}
	s += ": " + e.Err.Error()
	if e.Log != "" {
		s += "\n" + e.Log
	}
	return s
}

// Unwrap returns the cause.
func (e *BuildError) Unwrap() error { return e.Err }

// VersionSkewError says that the host program and the runner were built from different sources:
// the function's types differ, or the runner does not have it. Nothing ran.
type VersionSkewError struct {
	Function string
	Host     string // what the host program is, or needs
	Sandbox  string // what runs in the sandbox
	Reason   string
}

func (e *VersionSkewError) Error() string {
	return fmt.Sprintf("%s: %s: the host has %s, the sandbox runs %s; build both from the same sources", e.Function, e.Reason, e.Host, e.Sandbox)
}

// CredentialError says that a provider's key is missing or was refused. No call falls back to
// another backend.
type CredentialError struct {
	Backend  string
	Field    string // field of the backend value
	Variable string // environment variable
	File     string // key file
	Reason   string // "missing", "empty", or what the provider said
}

func (e *CredentialError) Error() string {
	return fmt.Sprintf("%s: the key is %s; set the field %s, the variable %s, or put it into the file %s", e.Backend, e.Reason, e.Field, e.Variable, e.File)
}

// LimitError says that a provider's quota or rate limit is reached.
type LimitError struct {
	Backend string
	Message string        // what the provider said
	Wait    time.Duration // how long to wait, or 0 if the provider does not say
}

func (e *LimitError) Error() string {
	s := e.Backend + ": limit reached: " + e.Message
	if e.Wait > 0 {
		s += fmt.Sprintf(" (try again in %v)", e.Wait)
	}
	return s
}

// RegisterError makes err, and errors of its type, come back from a sandbox as themselves, and
// returns it. It must be called while packages initialise:
//
//	var ErrNotFound = remote.RegisterError(errors.New("not found"))
//	var _ = remote.RegisterError(&QuotaError{})
//
// An error that is err in the sandbox is err on the host, so that errors.Is finds it. If err is of
// a type of your own, errors of that type travel as the JSON of their exported fields and are
// found by errors.As. RegisterError panics if it is called too late, or twice for the same.
func RegisterError[E error](err E) E {
	d, initialising := registry.Declaring()
	if !initialising {
		panic("remote.RegisterError: called after packages were initialised, where the sandbox could never see it. Call it at package level: var ErrX = remote.RegisterError(errors.New(…))")
	}
	if error(err) == nil {
		panic(fmt.Sprintf("remote.RegisterError: the error is nil, at %s:%d", d.File, d.Line))
	}
	if other, ok := registry.AddError(d, err); !ok {
		panic(fmt.Sprintf("remote.RegisterError: %q is registered twice, at\n\t%s\nand at\n\t%s:%d", other.Name, other.Pos, d.File, d.Line))
	}
	return err
}
