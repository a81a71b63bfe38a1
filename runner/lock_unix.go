//go:build unix

package runner

import (
	"os"
	"syscall"
)

// lock waits for and takes the lock on f, which lasts until f is closed or this process ends.
func lock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
