package backendtest

import "github.com/remote-box/remote/internal/proc"

// processAlive reports whether a process runs; one that has ended but was not waited for does not.
func processAlive(pid int) bool { return proc.Alive(pid) }
