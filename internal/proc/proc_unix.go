//go:build unix

package proc

import "syscall"

func kill(pid int, sig syscall.Signal) { syscall.Kill(pid, sig) }

// stop stops a process that is not to start any more others.
func stop(pid int) {
	if pid > 1 {
		syscall.Kill(pid, syscall.SIGSTOP)
	}
}

// SignalGroup sends sig to the process group that pid leads.
func SignalGroup(pid int, sig syscall.Signal) {
	if pid > 1 {
		syscall.Kill(-pid, sig)
	}
}

// Group are the attributes of a process that leads a group of its own.
func Group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Reap takes in the child pid if it has ended, without waiting.
func Reap(pid int) { syscall.Wait4(pid, nil, syscall.WNOHANG, nil) }
