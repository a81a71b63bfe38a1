//go:build linux && !remotebox_runner

package daytonatest

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"
)

// openTerminal makes a pseudo-terminal: the server's side, and the processes'.
func openTerminal(m machine, cols, rows int) (term, tty *os.File, err error) {
	err = m.do(func() error {
		if term, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
			return err
		}
		var number, unlock uint32
		if err := control(term, syscall.TIOCGPTN, unsafe.Pointer(&number)); err != nil {
			return err
		}
		if err := control(term, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock)); err != nil {
			return err
		}
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
		return err
	})
	if err == nil {
		err = resizeTerminal(term, cols, rows)
	}
	if err != nil && term != nil {
		term.Close()
	}
	return term, tty, err
}

func resizeTerminal(term *os.File, cols, rows int) error {
	size := [4]uint16{uint16(rows), uint16(cols)}
	return control(term, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
}

// control does an ioctl. It must not make the file blocking, or closing it would not end a read.
func control(f *os.File, request uintptr, arg unsafe.Pointer) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	if err := raw.Control(func(fd uintptr) { _, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg)) }); err != nil {
		return err
	}
	if errno != 0 {
		return errno
	}
	return nil
}

func controlTerminal(cmd *exec.Cmd) {
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
}
