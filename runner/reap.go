//go:build unix

package runner

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/proc"
)

// reaper takes in orphans: processes whose parents have ended and that became this process's
// children. The processes that it started itself are left to their Wait.
type reaper struct {
	mu   sync.Mutex
	own  map[int]bool
	sig  chan os.Signal
	done chan struct{}
}

func newReaper() *reaper {
	r := &reaper{own: map[int]bool{}, sig: make(chan os.Signal, 1), done: make(chan struct{})}
	signal.Notify(r.sig, syscall.SIGCHLD)
	go func() {
		defer close(r.done)
		for range r.sig {
			r.reap()
		}
	}()
	return r
}

// close takes in what there is and stops.
func (r *reaper) close() {
	signal.Stop(r.sig)
	close(r.sig)
	<-r.done
	r.reap()
}

// start starts a child whose status belongs to the caller. The lock keeps reap away until the
// child is known.
func (r *reaper) start(f func() (*child, error)) (driver.Process, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, err := f()
	if err != nil {
		return nil, err
	}
	r.own[c.p.Pid] = true
	return &reaped{c, r}, nil
}

// reaped is a child that the reaper is told about when it has been waited for.
type reaped struct {
	*child
	r *reaper
}

// Wait implements driver.Process.
func (c *reaped) Wait() (driver.Status, error) {
	st, err := c.child.Wait()
	c.r.mu.Lock()
	delete(c.r.own, c.p.Pid)
	c.r.mu.Unlock()
	c.r.reap() // an orphan may have been hidden behind it
	return st, err
}

// reap takes in orphans that have ended. It stops at a child that has ended and waits for its own
// Wait, which comes here again.
func (r *reaper) reap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		pid := proc.Ended()
		if pid == 0 || r.own[pid] {
			return
		}
		proc.Reap(pid)
	}
}
