//go:build !remotebox_runner

package jail

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A Jail runs the processes of one sandbox. Its methods may be called from many
// goroutines.
type Jail struct {
	cfg    Config
	thread *thread   // nil when unconfined
	init   *exec.Cmd // process 1; nil when unconfined

	mu     sync.Mutex
	frozen []int // host pids that Freeze stopped, in the order of stopping
	closed bool
}

// New makes a jail. The caller must Close it.
func New(cfg Config) (*Jail, error) {
	j := &Jail{cfg: cfg}
	for _, name := range []string{"root", "usr", "work/root", "work/usr", "merged"} {
		if err := os.MkdirAll(filepath.Join(cfg.Dir, name), 0o755); err != nil {
			return nil, err
		}
	}
	if cfg.Unconfined {
		return j, j.furnish()
	}
	// The runtime tries a child process the first time a process handle is made.
	// That child must not become process 1 of the jail.
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		p.Release()
	}
	t, err := startThread(j.enter)
	if err != nil {
		return nil, fmt.Errorf("jail: %w", err)
	}
	j.thread = t
	return j, nil
}

// Confined says whether absolute paths are private to the jail.
func (j *Jail) Confined() bool { return j.thread != nil }

// Do runs f where opening a file means the jail's file. Nothing in f may block
// for long: there is one thread for each jail.
func (j *Jail) Do(f func()) error {
	if j.thread == nil {
		j.mu.Lock()
		closed := j.closed
		j.mu.Unlock()
		if closed {
			return ErrClosed
		}
		f()
		return nil
	}
	if !j.thread.do(f) {
		return ErrClosed
	}
	return nil
}

// Path says what a path of a request is called inside Do.
func (j *Jail) Path(path string) string {
	if j.Confined() {
		return path
	}
	if rest, ok := strings.CutPrefix(path, "/home/user"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(j.cfg.Dir, "root/home/user", rest)
	}
	return path
}

// Dial connects to a port of the jail's loopback interface.
func (j *Jail) Dial(port int) (conn net.Conn, err error) {
	// One literal address: the socket is made by the calling goroutine.
	address := fmt.Sprintf("127.0.0.1:%d", port)
	if doErr := j.Do(func() { conn, err = net.Dial("tcp", address) }); doErr != nil {
		return nil, doErr
	}
	return conn, err
}

// Start starts a process.
func (j *Jail) Start(c Command) (*Process, error) {
	cmd := &exec.Cmd{
		Path: c.Argv[0], Args: c.Argv, Env: c.Env, Dir: c.Dir,
		SysProcAttr: &syscall.SysProcAttr{},
	}
	// os.File values are passed on as they are: no goroutine copies.
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	attr := cmd.SysProcAttr
	switch {
	case c.Terminal:
		attr.Setsid, attr.Setctty = true, true
	case j.Confined():
		// envd starts processes in its own process group, so "kill -- -PID" finds
		// none unless the process made one. Here process 1 stands in for envd.
		attr.Setpgid, attr.Pgid = true, 1
	default:
		attr.Setpgid = true
	}
	if j.Confined() {
		attr.Credential = &syscall.Credential{Uid: c.User.UID, Gid: c.User.GID}
	}
	p := &Process{cmd: cmd}
	var err error
	if doErr := j.Do(func() { err = cmd.Start() }); doErr != nil {
		return nil, doErr
	}
	if err != nil {
		return nil, err
	}
	p.PID = cmd.Process.Pid
	if j.Confined() {
		if p.PID, err = innerPID(p.PID); err != nil {
			p.Kill()
			p.Wait()
			return nil, err
		}
	}
	return p, nil
}

// Close kills every process of the jail, those included that left their
// session, and waits until they are gone. Whoever started one with Start must
// be waiting for it.
func (j *Jail) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	if j.thread == nil {
		return j.killMarked()
	}
	// The kernel kills a process name space together with its process 1, whose
	// exit can be seen only after all the others are gone.
	j.init.Process.Kill()
	j.init.Wait()
	j.thread.stop()
	return nil
}
