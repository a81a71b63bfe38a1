//go:build unix && !remotebox_runner

package local

import (
	"os"
	"syscall"
)

// owner is this process's hold on a sandbox.
type owner struct{ fd int }

// own says that this process owns the sandbox in dir, until release or the end of the process, however
// that ends. It is a lock and not a pid, because programs whose pids mean something else may share the
// directory: those of containers. Several may own a sandbox. It is no os.File, which would end with the
// last pointer to it, though a ref to the sandbox may still be about.
func own(dir string) (*owner, error) {
	o, err := lock(dir, syscall.LOCK_SH)
	if err != nil {
		return nil, &os.PathError{Op: "owning", Path: dir, Err: err}
	}
	return o, nil
}

// tryOwn returns a hold on the sandbox in dir that is nobody else's, or nil if it has an owner. On a
// file system without locks everything has one.
func tryOwn(dir string) *owner {
	o, err := lock(dir, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		return nil
	}
	return o
}

func lock(dir string, how int) (*owner, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := again(func() error { return syscall.Flock(fd, how) }); err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return &owner{fd}, nil
}

// again calls f until no signal interrupts it.
func again(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

// release ends the hold.
func (o *owner) release() { syscall.Close(o.fd) }
