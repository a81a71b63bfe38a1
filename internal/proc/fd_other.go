//go:build !unix

package proc

import "syscall"

func fdOf(fd uintptr) syscall.Handle { return syscall.Handle(fd) }
