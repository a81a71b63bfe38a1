// Package registry holds the functions that remote.New registered in this process. It is the
// module's only package-level state: the program fills it while its packages initialise, and the
// host and the runner read it afterwards.
package registry

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/remote-box/remote/internal/hostmode"
)

// Function is one registered function with its type parameters erased.
type Function struct {
	Package     string // import path of the declaring package
	Name        string // name within the package
	Description string
	File        string // where the declaring package's initialiser registered it
	Line        int
	Main        bool   // the declaring package is linked as the program's main package
	Root        string // the module's directory, where the program says so
	Fingerprint string // of the input and output types, see Fingerprint
	In, Out     string // the types as Go prints them
	Backend     any    // the driver.Backend given with On, or nil

	// Prepare decodes an input; the error is a *codec.Error. run then calls the function.
	Prepare func(input []byte) (run func(context.Context) (output any, err error), err error)

	// Call calls the function as its Remote does, middleware included, with its input and output
	// as JSON. ServeHost answers the remote-box command, for all functions alike: this is how the
	// runner, which package remote imports, reaches it. Both are nil in a runner.
	Call      func(ctx context.Context, input []byte) (output []byte, err error)
	ServeHost func(context.Context, *hostmode.Request, *hostmode.Reporter)
}

// ID is the function's identity: its declaring package and its name.
func (f *Function) ID() string { return f.Package + "." + f.Name }

// Pos is the place of registration, as compilers print it.
func (f *Function) Pos() string { return fmt.Sprintf("%s:%d", f.File, f.Line) }

var (
	mu         sync.RWMutex
	functions  = map[string]*Function{}
	selfRunner atomic.Bool
	memo       = map[string]*entry{}
	flights    = map[string]*flight{}
	lockedAs   = map[string]string{}
)

// Add registers f. A second function under the same identity is returned instead of being added.
func Add(f *Function) (other *Function, ok bool) {
	mu.Lock()
	defer mu.Unlock()
	if other, dup := functions[f.ID()]; dup {
		return other, false
	}
	functions[f.ID()] = f
	return nil, true
}

// Lookup finds a function by its identity.
func Lookup(id string) (*Function, bool) {
	mu.RLock()
	defer mu.RUnlock()
	f, ok := functions[id]
	return f, ok
}

// All returns the registered functions, sorted by identity.
func All() []*Function {
	mu.RLock()
	defer mu.RUnlock()
	keys := slices.Sorted(maps.Keys(functions))
	all := make([]*Function, len(keys))
	for i, k := range keys {
		all[i] = functions[k]
	}
	return all
}

// startedAsRunner is whether this process was started as a runner: known before any package that
// registers functions is initialised, so that calls which it makes then run in place as well.
var startedAsRunner = os.Getenv(ModeVariable) != ""

// ModeVariable is the environment variable by which a process is told to act as a runner.
const ModeVariable = "REMOTE_BOX_RUNNER"

// InSandbox reports whether this process runs inside a sandbox.
func InSandbox() bool { return RunnerBuild || startedAsRunner }

// MarkSelfRunner records that the program called runner.Main, so that it may be started again as
// its own runner.
func MarkSelfRunner() { selfRunner.Store(true) }

// SelfRunner reports whether the program called runner.Main.
func SelfRunner() bool { return selfRunner.Load() }

// entry is a value that is made once; its lock is a channel so that waiting can be given up.
type entry struct {
	lock  chan struct{}
	value any
}

// Once returns what make returned for key in this process, calling it if that has not succeeded
// yet. One call of make runs at a time; a failure, such as the end of its caller's context, is
// not remembered.
func Once[T any](ctx context.Context, key string, make func(context.Context) (T, error)) (T, error) {
	e := memoEntry(key)
	var zero T
	select {
	case e.lock <- struct{}{}:
	case <-ctx.Done():
		return zero, ctx.Err()
	}
	defer func() { <-e.lock }()
	if v, ok := e.value.(T); ok {
		return v, nil
	}
	v, err := make(ctx)
	if err != nil {
		return zero, err
	}
	e.value = v
	return v, nil
}

func memoEntry(key string) *entry {
	mu.Lock()
	defer mu.Unlock()
	e, ok := memo[key]
	if !ok {
		e = &entry{lock: make(chan struct{}, 1)}
		memo[key] = e
	}
	return e
}

// SetLocked records the image that a lock names under key.
func SetLocked(key, image string) {
	mu.Lock()
	defer mu.Unlock()
	lockedAs[key] = image
}

// Locked returns what SetLocked recorded.
func Locked(key string) (image string, ok bool) {
	mu.RLock()
	defer mu.RUnlock()
	image, ok = lockedAs[key]
	return image, ok
}
