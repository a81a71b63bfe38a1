package runner

import (
	"context"
	"os"
	"syscall"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
)

// child is a call's process below a supervisor.
type child struct {
	p  *os.Process
	id string
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
	if err != nil {
		return driver.Status{Code: -1}, err
	}
	return proc.Status(st), nil
}

// Kill implements driver.Process.
func (c *child) Kill(ctx context.Context) {
	proc.SignalGroup(c.p.Pid, syscall.SIGKILL)
	proc.End(ctx, func() []int { return c.tree() }, 0)
}

// tree finds the processes of this call: what is below its process, and what has been orphaned
// but still carries its tag.
func (c *child) tree() []int {
	pids := proc.Descendants(c.p.Pid)
	if proc.Alive(c.p.Pid) {
		pids = append(pids, c.p.Pid)
	}
	return append(pids, proc.Tagged(proc.CallTag, c.id)...)
}
