package hostmode

import (
	"os"
	"os/exec"
	"syscall"
)

// openReport opens the handle for the report.
func openReport(handle uintptr) *os.File { return os.NewFile(handle, "report") }

// PassReport gives a command the pipe for its report. The request is to say what it returns.
func PassReport(cmd *exec.Cmd, pipe *os.File) (report uintptr, err error) {
	h := syscall.Handle(pipe.Fd())
	if err := syscall.SetHandleInformation(h, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT); err != nil {
		return 0, err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.AdditionalInheritedHandles = append(cmd.SysProcAttr.AdditionalInheritedHandles, h)
	return uintptr(h), nil
}

// OpenTerminal returns nil: there is no live display on Windows.
func OpenTerminal(*Request) *os.File { return nil }

// PassTerminal returns 0, for none.
func PassTerminal(*exec.Cmd, *os.File) uintptr { return 0 }
