// Package backendtest holds a backend to the contract of package driver and to what package remote
// promises its users on every backend. A backend's own tests are little more than
//
//	func TestConformance(t *testing.T) {
//		backendtest.Run(t, func(t testing.TB) backendtest.Config {
//			return backendtest.Config{Backend: mybackend.Backend{}}
//		})
//	}
//
// Run it with the race detector. The functions that it calls are registered by this package, so
// that a runner with them is built, or the test program is its own runner if its TestMain calls
// runner.Main. They need nothing in the sandbox but the runner: no shell, no file but /dev/null.
package backendtest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/remote-box/remote/driver"
)

// Config is a backend under test.
type Config struct {
	// Backend is the backend. It is used by many goroutines at once.
	Backend driver.Backend
	// Remove destroys a sandbox behind the backend's back; nil if that can't be done.
	Remove func(ctx context.Context, id string) error
	// Env are variables that the backend was told to add to the functions' environment.
	Env map[string]string
	// Hidden are texts that no function may find in its environment: the provider's key.
	Hidden []string
	// Watchdog is how long a clause may take, one minute if zero.
	Watchdog time.Duration
	// Skip says why a clause, by name, is not for this backend.
	Skip map[string]string
}

// Run checks every clause in a subtest of its own. newConfig is called once for each.
func Run(t *testing.T, newConfig func(testing.TB) Config) {
	for _, c := range clauses() {
		t.Run(c.name, func(t *testing.T) {
			config := newConfig(t)
			if why, skip := config.Skip[c.name]; skip {
				t.Skip(why)
			}
			for _, f := range c.check(t.Context(), config) {
				t.Errorf("%s\nThe clause: %s", f, c.sentence)
			}
		})
	}
}

// Failure is a clause that a backend breaks.
type Failure struct {
	Clause   string
	Sentence string
	Messages []string
}

// Check checks every clause and returns those that are broken: for tests of the suite itself.
func Check(ctx context.Context, newConfig func() Config, only ...string) []Failure {
	var failures []Failure
	for _, c := range clauses() {
		if len(only) > 0 && !contains(only, c.name) {
			continue
		}
		if m := c.check(ctx, newConfig()); len(m) > 0 {
			failures = append(failures, Failure{c.name, c.sentence, m})
		}
	}
	return failures
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// clause is one sentence of the contract and the code that checks it.
type clause struct {
	name     string
	sentence string
	run      func(*tester)
}

// check runs a clause under its watchdog.
func (c *clause) check(ctx context.Context, config Config) []string {
	watchdog := config.Watchdog
	if watchdog == 0 {
		watchdog = time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, watchdog)
	defer cancel()
	// Ending what ignores its context takes some seconds.
	overtime := min(watchdog, 15*time.Second)
	t := &tester{ctx: ctx, Config: config, sandboxes: newCounter(config.Backend)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("panic: %v\n%s", p, stacks(false))
			}
		}()
		c.run(t)
		t.noneLeft()
	}()
	select {
	case <-done:
	case <-time.After(watchdog + overtime): // the context's end should have ended it
		t.Errorf("still running %v after its start:\n%s", watchdog+overtime, stacks(true))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failures
}

func stacks(all bool) []byte {
	buf := make([]byte, 64<<10)
	return buf[:runtime.Stack(buf, all)]
}

// tester is what a clause works with.
type tester struct {
	Config
	ctx       context.Context
	sandboxes *counter

	mu       sync.Mutex
	failures []string
}

// backend is the backend under test; the sandboxes that it makes are counted.
func (t *tester) backend() driver.Backend { return t.sandboxes.wrapped() }

// Errorf records a failure.
func (t *tester) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

// Fatalf records a failure and ends the clause. It must be called from the clause's goroutine.
func (t *tester) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}

// must ends the clause if err is not nil.
func (t *tester) must(err error) {
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// noneLeft checks that every sandbox that was made has been closed.
func (t *tester) noneLeft() {
	if left := t.sandboxes.open(); len(left) > 0 {
		t.Errorf("sandboxes were not closed: %v", left)
	}
}
