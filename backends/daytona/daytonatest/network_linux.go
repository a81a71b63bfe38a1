//go:build linux && !remotebox_runner

package daytonatest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

func (m *nsMachine) listening() []int {
	// The thread's view of the network is process 1's.
	return listeningPorts(m.init.Process.Pid, m.pids())
}

func (m *nsMachine) dial(ctx context.Context, port int) (net.Conn, error) {
	if !m.ownNet {
		if !slices.Contains(m.listening(), port) { // somebody else's on the host is none of the sandbox's
			return nil, errors.New("connection refused")
		}
		return dialLoopback(ctx, port)
	}
	// A socket belongs to the network of the thread that made it, wherever it is used.
	fd := -1
	err := m.do(func() (err error) {
		fd, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "sandbox")
	defer f.Close() // FileConn has a copy
	limit := syscall.Timeval{Sec: 5}
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit); err != nil {
		return nil, err
	}
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	return net.FileConn(f)
}

// loopbackUp switches the calling thread's loopback interface on.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	req := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP}
	copy(req.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&req))); errno != 0 {
		return errno
	}
	return nil
}

// listeningPorts are the TCP ports that one of pids listens on, in the network of process viewer.
func listeningPorts(viewer int, pids []int) []int {
	inodes := map[string]int{}
	for _, table := range []string{"tcp", "tcp6"} {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", viewer, table))
		for line := range strings.Lines(string(data)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != "0A" {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			if port, err := strconv.ParseInt(hex, 16, 32); err == nil {
				inodes["socket:["+f[9]+"]"] = int(port)
			}
		}
	}
	seen := map[int]bool{}
	var ports []int
	for _, pid := range pids {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			link, err := os.Readlink(fd)
			if err != nil {
				continue
			}
			if port, ok := inodes[link]; ok && !seen[port] {
				seen[port] = true
				ports = append(ports, port)
			}
		}
	}
	return ports
}
