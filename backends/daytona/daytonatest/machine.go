//go:build !remotebox_runner

package daytonatest

import (
	"context"
	"errors"
	"net"
	"os/exec"
)

// A system makes machines: with namespaces, or with plain directories.
type system interface {
	isolated() bool
	machine(spec machineSpec) (machine, error)
}

// A machine is a sandbox that runs: its processes, and the way to its disk. It lives from start to stop; the disk
// outlives it.
type machine interface {
	// do runs f where the machine's files are. Calls are serialized, so f must not wait for anything; it
	// gives every path to path before it opens it.
	do(f func() error) error
	path(p string) string
	// start starts a process group in the machine.
	start(cmd *exec.Cmd) error
	// wait waits for what start started.
	wait(cmd *exec.Cmd) error
	// pids are the machine's processes, as the host numbers them.
	pids() []int
	// listening are the TCP ports that the machine's processes listen on.
	listening() []int
	dial(ctx context.Context, port int) (net.Conn, error)
	// done is closed when the machine is gone.
	done() <-chan struct{}
	// kill ends every process and waits for that. It may be called more than once.
	kill()
}

// machineSpec is what a machine is made from.
type machineSpec struct {
	id     string
	disk   string   // the directory that holds what the machine writes
	layers []string // disks below it, top first
	env    []string // of every process
	user   string
	ownNet bool // a network of its own, with nothing but loopback
}

var errMachineGone = errors.New("the sandbox's processes are gone")

// An image is what a snapshot boots: frozen disks and the settings of the Dockerfile.
type image struct {
	ref        string
	layers     []string // top first
	env        []string
	workdir    string
	user       string
	entrypoint []string
}
