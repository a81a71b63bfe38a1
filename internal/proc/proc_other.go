//go:build !unix

package proc

import "syscall"

// Subreaper does nothing here.
func Subreaper() {}

// Children finds nothing here.
func Children(int) []int { return nil }

// SignalGroup does nothing here.
func SignalGroup(int, syscall.Signal) {}

// Group are the attributes of a process of its own.
func Group() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func stop(int)                 {}
func kill(int, syscall.Signal) {}
func alive(int) bool           { return false }
func all() []int               { return nil }
func environ(int) string       { return "" }

// Reap does nothing here.
func Reap(int) {}

// HasChildren reports nothing here.
func HasChildren() bool { return false }

// Ended finds nothing here.
func Ended() int { return 0 }
