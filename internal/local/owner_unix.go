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
//
// A file system without locks is no error: nothing below such a directory is ever taken for abandoned.
func own(dir string) (*owner, error) {
	o, err := hold(dir)
	if err != nil {
		return nil, &os.PathError{Op: "owning", Path: dir, Err: err}
	}
	o.lock(syscall.LOCK_SH)
	return o, nil
}

// tryOwn returns a hold on the sandbox in dir that is nobody else's, or nil if it may have an owner.
func tryOwn(dir string) *owner {
	o, err := hold(dir)
	if err != nil {
		return nil
	}
	if o.lock(syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		o.release()
		return nil
	}
	return o
}

// hold opens dir.
func hold(dir string) (*owner, error) {
	o := &owner{}
	return o, again(func() (err error) {
		o.fd, err = syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
		return err
	})
}

func (o *owner) lock(how int) error {
	return again(func() error { return syscall.Flock(o.fd, how) })
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
