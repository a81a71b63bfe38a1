package runner

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/rand"
)

// runInit supervises a sandbox as its first process. Its standard streams are its first
// connection; later ones come through a socket, see runAttach. It ends when a host says so, on
// SIGTERM, or when no host has been there for a while.
func runInit() int {
	proc.Subreaper()
	in, out, err := takeStreams()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	mendEnvironment()
	st, err := openState()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: no place for results:", err)
		return 2
	}
	r, err := newResident(&supervisor{
		state: st, nonce: rand.Text(26), line: newLine(nil), keep: tapeSize,
		calls: map[string]*call{}, reaper: newReaper(),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: no place for results:", err)
		return 2
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if err := listen(st.socket(), r); err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: no way to connect again:", err)
		return 2
	}
	go r.serve(in, out)
	stop := make(chan struct{})
	defer close(stop)
	select {
	case <-r.quit:
	case <-terminated:
	case <-r.orphaned(stop):
	}
	r.shutdown()
	return 0
}

// takeStreams moves descriptors 0 and 1 away, in a form in which closing them ends a Read and a
// Write that are under way.
func takeStreams() (in, out *os.File, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	var files [2]*os.File
	for fd := range files {
		moved, err := syscall.Dup(fd)
		if err != nil {
			return nil, nil, os.NewSyscallError("dup", err)
		}
		closeOnExec(uintptr(moved))
		files[fd] = os.NewFile(uintptr(moved), "host")
		if err := dup2(int(null.Fd()), fd); err != nil {
			return nil, nil, os.NewSyscallError("dup", err)
		}
	}
	return files[0], files[1], nil
}

func (s state) socket() string { return filepath.Join(string(s), "host.sock") }

// listen accepts connections at path, which only this user can reach. Package net is not used: it
// would be the largest part of many a runner.
func listen(path string, r *resident) error {
	os.Remove(path)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	if err := syscall.Listen(fd, 16); err != nil {
		return os.NewSyscallError("listen", err)
	}
	go func() {
		for {
			conn, _, err := syscall.Accept4(fd, syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK)
			switch err {
			case nil:
				f := os.NewFile(uintptr(conn), "host")
				go r.serve(f, f)
			case syscall.EINTR, syscall.ECONNABORTED, syscall.EAGAIN:
			default:
				time.Sleep(10 * time.Millisecond) // out of descriptors, which may pass
			}
		}
	}()
	return nil
}
