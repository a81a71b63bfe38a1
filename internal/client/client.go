// Package client is the host's side of a call: it gets a request to a runner in a sandbox, by the
// cheapest way that the sandbox offers, and brings back what became of it. It does not trust the
// runner: what comes back is bounded and goes only where it was sent for.
package client

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/rand"
	"github.com/remote-box/remote/internal/wire"
)

// Call is a call to be made.
type Call struct {
	Function    string
	Fingerprint string
	Trace       map[string]string
	Input       Input
	// Stdout and Stderr get what the function and its children print, while it runs.
	Stdout, Stderr io.Writer
	// MaxResult bounds the size of the result in bytes.
	MaxResult int64

	id     string // under which Conn.Call has made it
	stdout *head  // what has arrived of its output, over all connections
	stderr *tail
}

// Input is an encoded input: in memory, or in a file of this host if Path is not empty.
type Input struct {
	Data []byte
	Path string
	Size int64
}

// open returns a reader of the input.
func (in *Input) open() (io.ReadCloser, error) { return os.Open(in.Path) }

// Reply is what became of a call.
type Reply struct {
	// Response is the runner's, or nil if there was none: Status then tells how the process
	// ended, and Broken, if not nil, what came in place of an answer.
	Response *wire.Response
	Broken   error
	// Data is the output, unless it is in the file Path, which the caller removes.
	Data []byte
	Path string
	// Status is how the call's process ended.
	Status driver.Status
	// Late says that the runner ended the call because its time was up.
	Late bool
	// Stderr is the end of what was printed to standard error, Raw the beginning of what came
	// instead of an answer.
	Stderr, Raw []byte
}

// Lost says that the connection to a runner broke, and why.
type Lost struct {
	Err error
	Raw []byte // the end of what the runner printed outside of any call
}

func (e *Lost) Error() string {
	s := "the connection to the sandbox's runner broke"
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Lost) Unwrap() error { return e.Err }

// Unreached says that a runner could not be started, or connected to: nothing has happened.
type Unreached struct{ Err error }

func (e *Unreached) Error() string { return "the sandbox's runner can't be reached: " + e.Err.Error() }

func (e *Unreached) Unwrap() error { return e.Err }

// NotRunner says that what was started as a runner did not behave like one.
type NotRunner struct {
	Reason string
	Raw    []byte // what it said, its beginning
	Status driver.Status
	silent bool // it has not said a word of ours
}

func (e *NotRunner) Error() string { return "not a runner: " + e.Reason }

// newID names a call.
func newID() string { return rand.Text(26) }

// request is the request that starts a call now.
func (c *Call) request(ctx context.Context) wire.Request {
	r := wire.Request{
		Version: wire.Version, Function: c.Function, Fingerprint: c.Fingerprint,
		Trace: c.Trace, Size: c.Input.Size,
	}
	if deadline, ok := ctx.Deadline(); ok {
		// Zero would mean no limit.
		r.Left = max(time.Until(deadline), time.Nanosecond)
	}
	return r
}

// takeFile checks a result that the runner left in a file: the host decides the name, and follows
// no link there.
func takeFile(path string, size, limit int64) error {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return &wire.FrameError{Reason: "a result file that is not there"}
	}
	if info.Size() != size {
		return &wire.FrameError{Reason: "a result file of another size than announced"}
	}
	if limit > 0 && size > limit {
		return errors.New("a result larger than the limit")
	}
	return nil
}
