//go:build !windows

package hostmode

import (
	"os"
	"os/exec"
	"syscall"
)

// openReport opens the descriptor for the report, and keeps it from this process's children.
func openReport(fd uintptr) *os.File {
	syscall.CloseOnExec(int(fd))
	return os.NewFile(fd, "report")
}

// PassReport gives a command the pipe for its report. The request is to say what it returns.
func PassReport(cmd *exec.Cmd, pipe *os.File) (report uintptr, err error) {
	cmd.ExtraFiles = append(cmd.ExtraFiles, pipe)
	return uintptr(2 + len(cmd.ExtraFiles)), nil
}
