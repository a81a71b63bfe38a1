//go:build linux && !remotebox_runner

package daytonatest

import "syscall"

func credential(who account) *syscall.SysProcAttr {
	if who.uid == 0 {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: who.uid, Gid: who.gid}}
}
