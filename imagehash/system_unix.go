//go:build unix

package imagehash

import "syscall"

// openFlags keep an open from blocking on a pipe, and from following a symlink, that took a file's place since the walk
// saw it.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
