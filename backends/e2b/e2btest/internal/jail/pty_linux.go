//go:build !remotebox_runner

package jail

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// OpenPTY makes a terminal of the jail: the side that envd holds, and the
// process's.
func (j *Jail) OpenPTY(cols, rows uint32) (master, slave *os.File, err error) {
	if doErr := j.Do(func() { master, slave, err = openPTY(cols, rows) }); doErr != nil {
		return nil, nil, doErr
	}
	return master, slave, err
}

func openPTY(cols, rows uint32) (master, slave *os.File, err error) {
	fd, err := syscall.Open("/dev/ptmx", syscall.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open terminal: %w", err)
	}
	// Non-blocking, so that closing it ends a read.
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	var number uint32
	var unlock int32
	if err = ioctl(fd, syscall.TIOCGPTN, unsafe.Pointer(&number)); err == nil {
		err = ioctl(fd, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	}
	if err == nil {
		err = Resize(master, cols, rows)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, fmt.Errorf("open terminal: %w", err)
	}
	return master, slave, nil
}

// Resize sets a terminal's size.
func Resize(master *os.File, cols, rows uint32) error {
	size := struct{ rows, cols, x, y uint16 }{rows: uint16(rows), cols: uint16(cols)}
	raw, err := master.SyscallConn()
	if err != nil {
		return err
	}
	var ioctlErr error
	if err := raw.Control(func(fd uintptr) { ioctlErr = ioctl(int(fd), syscall.TIOCSWINSZ, unsafe.Pointer(&size)) }); err != nil {
		return err
	}
	return ioctlErr
}

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

// loopbackUp turns on the loopback interface of the calling thread's network
// name space.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct { // struct ifreq
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	return ioctl(fd, syscall.SIOCSIFFLAGS, unsafe.Pointer(&request))
}
