package runner

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

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
	if _, err := listen(st.socket(), func(f *os.File) { r.serve(f, f) }); err != nil {
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
