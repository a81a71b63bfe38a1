//go:build unix

package backendtest

import (
	"os"
	"syscall"
)

func killSelf() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// writeFD writes past everything that Go's os package knows of.
func writeFD(fd int, s string) { syscall.Write(fd, []byte(s)) }

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
