package runner

import (
	"os"
	"syscall"
	"time"
)

// listen accepts connections at path, which only this user can reach, and gives each to a goroutine
// of its own. stop ends that; whoever has a connection keeps it. Package net is not used: it would be
// the largest part of many a runner.
func listen(path string, serve func(*os.File)) (stop func(), err error) {
	os.Remove(path)
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		syscall.Close(fd)
		return nil, os.NewSyscallError("bind", err)
	}
	if err := syscall.Listen(fd, 16); err != nil {
		syscall.Close(fd)
		return nil, os.NewSyscallError("listen", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, _, err := syscall.Accept4(fd, syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK)
			switch err {
			case nil:
				go serve(os.NewFile(uintptr(conn), "host"))
			case syscall.EINTR, syscall.ECONNABORTED, syscall.EAGAIN:
			case syscall.EINVAL:
				return // it has been shut down
			default:
				time.Sleep(10 * time.Millisecond) // out of descriptors, which may pass
			}
		}
	}()
	return func() {
		os.Remove(path)
		syscall.Shutdown(fd, syscall.SHUT_RDWR)
		<-ended
		syscall.Close(fd)
	}, nil
}

// connect connects to a socket of this sandbox.
func connect(path string) (*os.File, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		syscall.Close(fd)
		return nil, os.NewSyscallError("connect", err)
	}
	return os.NewFile(uintptr(fd), "supervisor"), nil
}
