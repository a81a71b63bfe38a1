//go:build unix && !remotebox_runner

package daytonatest

import (
	"syscall"
)

const openNonblock = syscall.O_NONBLOCK

func makeFIFO(path string) error { return syscall.Mkfifo(path, 0o600) }

func signalGroup(pid int, sig syscall.Signal) error { return syscall.Kill(-pid, sig) }

// signalAll signals each process that the machine has at this moment.
func signalAll(m machine, sig syscall.Signal) {
	for _, pid := range m.pids() {
		_ = syscall.Kill(pid, sig)
	}
}

func thaw(m machine) { signalAll(m, syscall.SIGCONT) }
