//go:build !windows

package cli

import (
	"os/exec"
	"syscall"
)

// terminate asks a program to stop.
const terminate = syscall.SIGTERM

// askWhere makes a program print the traces of its goroutines and end.
func askWhere(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGQUIT) }
