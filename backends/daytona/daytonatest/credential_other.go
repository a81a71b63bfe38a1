//go:build !linux && !remotebox_runner

package daytonatest

import "syscall"

// credential can't make anybody of anybody: sandboxes are directories here, and run as whoever runs the server.
func credential(account) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
