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

// OpenTerminal opens the descriptor of the terminal that a request hands over; nil if there is none.
func OpenTerminal(req *Request) *os.File {
	if req.Terminal == 0 {
		return nil
	}
	syscall.CloseOnExec(int(req.Terminal))
	return os.NewFile(req.Terminal, "terminal")
}

// PassTerminal gives a command the terminal. The request is to say what it returns, 0 for none.
func PassTerminal(cmd *exec.Cmd, terminal *os.File) uintptr {
	if terminal == nil {
		return 0
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, terminal)
	return uintptr(2 + len(cmd.ExtraFiles))
}

// PassReport gives a command the pipe for its report. The request is to say what it returns.
func PassReport(cmd *exec.Cmd, pipe *os.File) (report uintptr, err error) {
	cmd.ExtraFiles = append(cmd.ExtraFiles, pipe)
	return uintptr(2 + len(cmd.ExtraFiles)), nil
}
