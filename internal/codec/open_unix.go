//go:build unix

package codec

import "syscall"

// noFollow refuses links, and does not wait for a FIFO's writer.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
