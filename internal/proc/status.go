package proc

import (
	"os"
	"syscall"

	"github.com/remote-box/remote/driver"
)

// Status is how a process ended.
func Status(st *os.ProcessState) driver.Status {
	s := driver.Status{Code: st.ExitCode()}
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		s.Signal = SignalName(ws.Signal())
	}
	return s
}
