//go:build unix

package runner

import (
	"os"
	"syscall"
)

// lock waits for and takes the lock on f, which lasts until f is closed or this process ends.
func lock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// tryLock takes the lock if nobody holds it.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
