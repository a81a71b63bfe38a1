//go:build !remotebox_runner

package jail

import (
	"os"
	"runtime"
	"syscall"
)

// thread is one OS thread with name spaces of its own. What it runs, and every
// process that it starts, sees the jail instead of the host.
type thread struct {
	calls chan func()
	quit  chan struct{}
	done  chan struct{}
}

// startThread runs setup on a new thread and keeps the thread if it succeeds.
func startThread(setup func() error) (*thread, error) {
	t := &thread{calls: make(chan func()), quit: make(chan struct{}), done: make(chan struct{})}
	ready := make(chan error, 1)
	go t.run(setup, ready)
	if err := <-ready; err != nil {
		<-t.done
		return nil, err
	}
	return t, nil
}

func (t *thread) run(setup func() error, ready chan<- error) {
	// Never unlocked: a thread with foreign name spaces must not be used again,
	// and the runtime ends a thread whose goroutine returns while locked to it.
	runtime.LockOSThread()
	if syscall.Gettid() == os.Getpid() {
		// The main thread can't end. Holding it here makes the next goroutine run
		// on another one.
		moved := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(moved)
			t.serve(setup, ready)
		}()
		<-moved
		runtime.UnlockOSThread()
		return
	}
	t.serve(setup, ready)
}

func (t *thread) serve(setup func() error, ready chan<- error) {
	defer close(t.done)
	err := setup()
	ready <- err
	if err != nil {
		return
	}
	for {
		select {
		case call := <-t.calls:
			call()
		case <-t.quit:
			return
		}
	}
}

// do runs f on the thread and reports whether it ran.
func (t *thread) do(f func()) bool {
	finished := make(chan struct{})
	select {
	case <-t.quit:
		return false
	case t.calls <- func() { defer close(finished); f() }:
		<-finished
		return true
	}
}

// stop ends the thread. It must be called once.
func (t *thread) stop() {
	close(t.quit)
	<-t.done
}
