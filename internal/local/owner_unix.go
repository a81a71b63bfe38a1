//go:build unix && !remotebox_runner

package local

import (
	"io/fs"
	"os"
	"syscall"
)

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// own says that this process owns the sandbox in dir, until the file is closed or the process ends,
// however that happens. It is a lock and not a pid, because programs whose pids mean something else
// may share the directory: those of containers. Several may own a sandbox.
func own(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = flock(f, syscall.LOCK_SH)
	if err != nil {
		f.Close()
		return nil, os.NewSyscallError("flock", err)
	}
	return f, nil
}

// tryOwn reports whether nobody owns the sandbox in dir; nobody can then until release is called.
func tryOwn(dir string) (free bool, release func()) {
	f, err := os.Open(dir)
	if err != nil {
		return false, nil
	}
	if flock(f, syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return false, nil // owned, or on a file system without locks
	}
	return true, func() { f.Close() }
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
