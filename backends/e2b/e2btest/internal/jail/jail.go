//go:build !remotebox_runner

package jail

import (
	"errors"
	"os"
	"os/exec"
)

// ErrClosed is returned by the methods of a jail that was closed.
var ErrClosed = errors.New("jail: closed")

// Config says what a jail is made of.
type Config struct {
	// ID marks the jail's processes, in the variable E2B_SANDBOX_ID.
	ID string
	// Dir is the jail's own directory. It must exist, and is not removed by Close:
	// a jail made again with the same Dir has the same files.
	Dir string
	// Base is a skeleton made by WriteBase.
	Base string
	// Layers are the directories (Config.Dir) of closed jails whose files this one
	// starts with, the topmost first.
	Layers []string
	// PrivateNetwork gives the jail a loopback interface of its own and nothing else.
	PrivateNetwork bool
	// Unconfined asks for the plain directory, whoever is running.
	Unconfined bool
}

// User is an account inside a jail.
type User struct {
	Name string
	UID  uint32
	GID  uint32
	Home string
}

// Command is a process to be started.
type Command struct {
	Argv []string // Argv[0] is an absolute path
	Env  []string
	Dir  string
	User User

	Stdin, Stdout, Stderr *os.File
	// Terminal says that Stdin is a terminal, which is to control a new session.
	Terminal bool
}

// Process is a started Command. Wait must be called once.
type Process struct {
	// PID is the number inside the jail.
	PID int

	cmd *exec.Cmd
}

// Signal sends sig to this process only, not to its children.
func (p *Process) Signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// Kill ends this process only.
func (p *Process) Kill() error { return p.cmd.Process.Kill() }

// Wait waits for the exit of this process.
func (p *Process) Wait() (*os.ProcessState, error) { return p.cmd.Process.Wait() }
