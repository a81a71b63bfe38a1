//go:build unix

package proc

func fdOf(fd uintptr) int { return int(fd) }
