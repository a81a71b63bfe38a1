//go:build !remotebox_runner

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
)

// Sandbox is a directory and the processes that were started in it.
type Sandbox struct {
	config Config
	runner string
	id     string
	dir    string
	once   bool

	mu     sync.Mutex
	owned  *owner // nil while it is paused
	closed bool
}

var (
	_ driver.Streamer = (*Sandbox)(nil)
	_ driver.Local    = (*Sandbox)(nil)
	_ driver.Pauser   = (*Sandbox)(nil)
)

// ID implements driver.Sandbox.
func (s *Sandbox) ID() string { return s.id }

// Streams implements driver.Streamer.
func (s *Sandbox) Streams() {}

// StateDir implements driver.Local. That of a single call's sandbox is made when it is needed, if
// ever: making a directory is a good part of what such a call costs.
func (s *Sandbox) StateDir() string {
	if s.once {
		return s.dir + stateName
	}
	return s.dir
}

func (s *Sandbox) workDir() string {
	if s.config.Dir != "" {
		return s.config.Dir
	}
	if s.once {
		return s.dir
	}
	return filepath.Join(s.dir, workName)
}

// gone is the error for a sandbox whose directory is no longer there.
func (s *Sandbox) gone() error {
	if info, err := os.Stat(s.dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: its directory %s has been removed", driver.ErrSandboxGone, s.dir)
	}
	return nil
}

// command fills in what cmd leaves open.
func (s *Sandbox) command(cmd *driver.Command) (path string, args []string, attr os.ProcAttr, err error) {
	args = append([]string(nil), cmd.Args...)
	path = args[0]
	if path == driver.RunnerArg {
		path = s.runner
	} else if path, err = exec.LookPath(path); err != nil {
		return "", nil, attr, err
	}
	dir := s.workDir()
	if filepath.IsAbs(cmd.Dir) {
		dir = cmd.Dir
	} else if cmd.Dir != "" {
		dir = filepath.Join(dir, cmd.Dir)
	}
	env := append(s.config.environ(s.id), "PWD="+dir)
	return path, args, os.ProcAttr{Dir: dir, Env: append(env, cmd.Env...), Sys: proc.Group()}, nil
}

// Spawn implements driver.Local.
func (s *Sandbox) Spawn(cmd *driver.Command, files []*os.File) (driver.Process, error) {
	path, args, attr, err := s.command(cmd)
	if err != nil {
		return nil, err
	}
	attr.Files = files
	p, err := os.StartProcess(path, args, &attr)
	if err != nil {
		if gone := s.gone(); gone != nil {
			return nil, gone
		}
		return nil, err
	}
	return &process{p: p, sandbox: s.id}, nil
}

// Exec implements driver.Sandbox.
func (s *Sandbox) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	path, args, attr, err := s.command(cmd)
	if err != nil {
		return driver.Status{}, err
	}
	c := exec.Cmd{
		Path: path, Args: args, Dir: attr.Dir, Env: attr.Env, SysProcAttr: attr.Sys,
		Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		WaitDelay: time.Second, // for what holds its output open in the background
	}
	if err := c.Start(); err != nil {
		if gone := s.gone(); gone != nil {
			return driver.Status{}, gone
		}
		return driver.Status{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-ended:
		return proc.Status(c.ProcessState), nil
	case <-ctx.Done():
		if slices.Contains(cmd.Env, callproc.EnvMode+"="+callproc.ModeOnce) {
			// It ends its call in good order, and what that has started.
			c.Process.Signal(syscall.SIGTERM)
			select {
			case <-ended:
				return driver.Status{}, ctx.Err()
			case <-time.After(onceTime):
			}
		}
		kill, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		// Other processes of the sandbox, left by earlier calls, are none of this one's.
		proc.EndTree(kill, c.Process.Pid, func() []int { return nil })
		<-ended
		return driver.Status{}, ctx.Err()
	}
}

// onceTime is how long a runner may take to end the call that it makes.
const onceTime = callproc.Grace + callproc.Kill + 2*time.Second

// Pause implements driver.Pauser. Processes have ended with the supervisor; what is left is files.
func (s *Sandbox) Pause(context.Context) error {
	if err := s.gone(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, pausedFile), nil, 0o600); err != nil {
		return err
	}
	s.disown()
	return nil
}

// Resume implements driver.Pauser.
func (s *Sandbox) Resume(context.Context) error {
	if err := s.own(); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(s.dir, pausedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// own keeps others from removing the sandbox. If it is being removed, it is gone.
func (s *Sandbox) own() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owned == nil {
		o, err := own(s.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.owned = o
	}
	return s.gone()
}

func (s *Sandbox) disown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
}

// release is disown for who holds mu.
func (s *Sandbox) release() {
	if s.owned != nil {
		s.owned.release()
		s.owned = nil
	}
}

// Close implements driver.Sandbox.
func (s *Sandbox) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	if !s.once {
		// A supervisor ends what it started; this is for one that could not. The process of a
		// single call has been waited for, and killed with all of its own if it failed.
		proc.End(ctx, func() []int { return proc.Tagged(proc.Tag, s.id) }, 0)
	}
	err := removeAll(s.dir)
	if s.once && err == nil {
		err = os.RemoveAll(s.StateDir())
	}
	if err != nil {
		return fmt.Errorf("removing the sandbox's directory: %w", err)
	}
	s.closed = true
	s.release()
	return nil
}

// removeAll also removes directories that a function has made unreadable.
func removeAll(dir string) error {
	// What a call leaves in most cases, with the fewest system calls.
	if os.Remove(dir) == nil || os.Remove(filepath.Join(dir, workName)) == nil && os.Remove(dir) == nil {
		return nil
	}
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// process is a process that Spawn started.
type process struct {
	p       *os.Process
	sandbox string
	waited  atomic.Bool
}

// Wait implements driver.Process.
func (p *process) Wait() (driver.Status, error) {
	st, err := p.p.Wait()
	p.waited.Store(true)
	if err != nil {
		return driver.Status{Code: -1}, err
	}
	return proc.Status(st), nil
}

// Kill implements driver.Process.
func (p *process) Kill(ctx context.Context) {
	tagged := func() []int { return proc.Tagged(proc.Tag, p.sandbox) }
	if p.waited.Load() {
		proc.SignalGroup(p.p.Pid, syscall.SIGKILL) // the group keeps its number while it has members
		proc.End(ctx, tagged, 0)
		return
	}
	proc.EndTree(ctx, p.p.Pid, tagged)
}
