package remote

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/remote-box/remote/driver"
)

// DefaultTimeout is how long a call may take where [Timeout] says nothing else.
const DefaultTimeout = 5 * time.Minute

// DefaultMaxResult is how many bytes a result's JSON may have where [MaxResult] says nothing else.
const DefaultMaxResult = 1 << 30

// Option sets something about a function, for [New].
type Option func(*settings)

type settings struct {
	backend        driver.Backend
	name           string
	description    string
	timeout        time.Duration
	maxResult      int64
	root           string
	middleware     []func(Handler) Handler
	stdout, stderr io.Writer
}

func newSettings(opts []Option) settings {
	s := settings{timeout: DefaultTimeout, maxResult: DefaultMaxResult, stdout: os.Stderr, stderr: os.Stderr}
	for _, o := range opts {
		o(&s)
	}
	return s
}

// On sets the backend on which the function runs, unless a call's session has another.
func On(b Backend) Option {
	if b == nil {
		panic("remote.On: the backend is nil")
	}
	return func(s *settings) { s.backend = b }
}

// Name names the function within its package, instead of its own name. Function literals need
// one, and so do two functions that would share one.
func Name(name string) Option {
	if name == "" {
		panic("remote.Name: the name is empty")
	}
	return func(s *settings) { s.name = name }
}

// Description says in a sentence or two what the function does, for people and models.
func Description(text string) Option { return func(s *settings) { s.description = text } }

// Timeout bounds a call, from Call to its return; 0 means no bound but the context's. The default
// is DefaultTimeout. Making the sandbox counts, and so does building the runner or an image for the
// first call; a runner's build goes on when the time is up, so that a later call finds it.
func Timeout(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("remote.Timeout: %v is negative; 0 means no limit", d))
	}
	return func(s *settings) { s.timeout = d }
}

// MaxResult bounds the JSON of a result, in bytes; a larger one is a [ProtocolError]. The default
// is DefaultMaxResult.
func MaxResult(bytes int64) Option {
	if bytes <= 0 {
		panic(fmt.Sprintf("remote.MaxResult: %d is not positive", bytes))
	}
	return func(s *settings) { s.maxResult = bytes }
}

// Root is the directory of the module that declares the function, where it is not the one that
// the program was compiled from: when it was built with -trimpath, or its sources have moved.
func Root(dir string) Option {
	if dir != "" && !filepath.IsAbs(dir) {
		panic(fmt.Sprintf("remote.Root: %q is not an absolute path", dir))
	}
	return func(s *settings) { s.root = dir }
}

// Output sets where the function's standard output and error go while it runs; nil discards. The
// default for both is the standard error of this program. Each call writes from one goroutine at
// a time; calls at once write at once. A writer that blocks holds the function up. An
// error of a writer is ignored: what it did not take is lost, what comes next is written again, and
// the call does not fail by it. A writer that must not lose anything has to note its errors itself.
func Output(stdout, stderr io.Writer) Option {
	return func(s *settings) { s.stdout, s.stderr = stdout, stderr }
}

// Middleware wraps the function's calls, the first outermost: for approval, rate limits, logs. It
// runs on the host only; inside a sandbox a function is called directly. New panics for one that is
// nil.
func Middleware(m ...func(next Handler) Handler) Option {
	return func(s *settings) { s.middleware = append(s.middleware, m...) }
}

// Handler handles a call and returns its output, a value of the function's output type.
type Handler func(ctx context.Context, c *Invocation) (output any, err error)

// Invocation is a call on its way through middleware.
type Invocation struct {
	Function    string // identity
	Name        string
	Description string
	Input       any // of the function's input type; may be replaced by another value of it
}
