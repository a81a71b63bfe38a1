//go:build unix

package runner

import (
	"os"
	"syscall"
)

// closeOnExec also makes the descriptor non-blocking, so that reading from it costs no thread.
func closeOnExec(fd uintptr) {
	syscall.CloseOnExec(int(fd))
	syscall.SetNonblock(int(fd), true)
}

// takeStdout moves descriptor 1 away for frames alone; what is printed from now on is dropped.
func takeStdout() (*os.File, error) {
	fd, err := syscall.Dup(1)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return os.NewFile(uintptr(fd), "frames"), dup2(int(null.Fd()), 1)
}
