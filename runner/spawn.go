package runner

import (
	"context"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
)

// child is a call's process below a supervisor.
type child struct {
	p      *os.Process
	id     string
	waited atomic.Bool // its pid may be another's by now
}

// spawn starts this program again to make the call id. reaping, if not nil, is held while the new
// process is unknown to a reaper.
func spawn(id, nonce string, files []*os.File) (*child, error) {
	exe, err := executable()
	if err != nil {
		return nil, err
	}
	p, err := os.StartProcess(exe, []string{os.Args[0]}, &os.ProcAttr{
		Files: files,
		Env: append(os.Environ(),
			callproc.EnvMode+"="+callproc.ModeCall,
			callproc.EnvNonce+"="+nonce,
			proc.CallTag+"="+id),
		Sys: proc.Group(),
	})
	if err != nil {
		return nil, err
	}
	return &child{p: p, id: id}, nil
}

// Wait implements driver.Process.
func (c *child) Wait() (driver.Status, error) {
	st, err := c.p.Wait()
	c.waited.Store(true)
	if err != nil {
		return driver.Status{Code: -1}, err
	}
	return proc.Status(st), nil
}

// Kill implements driver.Process.
func (c *child) Kill(ctx context.Context) {
	if c.waited.Load() {
		proc.SignalGroup(c.p.Pid, syscall.SIGKILL) // the group keeps its number while it has members
		proc.End(ctx, c.tagged, 0)
		return
	}
	proc.EndTree(ctx, c.p.Pid, c.tagged)
}

// tagged finds the call's processes that have been orphaned but still carry its tag.
func (c *child) tagged() []int { return proc.Tagged(proc.CallTag, c.id) }
