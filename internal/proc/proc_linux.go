package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

const prSetChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER, prctl(2)

// Subreaper makes this process the parent of its orphaned descendants, so that none of them
// leaves its tree, whatever session or group it makes for itself.
func Subreaper() {
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
}

// Children finds the living children of pid.
func Children(pid int) []int {
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil
	}
	var found []int
	for _, t := range tasks {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + t.Name() + "/children")
		if err != nil {
			if os.IsNotExist(err) && !childrenFile {
				return childrenByStat(pid)
			}
			continue
		}
		for _, f := range bytes.Fields(b) {
			if n, err := strconv.Atoi(string(f)); err == nil {
				found = append(found, n)
			}
		}
	}
	return found
}

// childrenFile is whether the kernel has /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN).
var childrenFile = func() bool {
	_, err := os.Stat("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children")
	return err == nil
}()

func childrenByStat(parent int) []int {
	var found []int
	for _, pid := range all() {
		if _, ppid := stat(pid); ppid == parent {
			found = append(found, pid)
		}
	}
	return found
}

// stat returns a process's state letter and parent, from proc_pid_stat(5).
func stat(pid int) (state byte, ppid int) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	// The command's name is in parentheses and may hold anything.
	_, rest, _ := strings.Cut(string(b[bytes.LastIndexByte(b, ')')+1:]), " ")
	f := strings.Fields(rest)
	if len(f) < 2 {
		return 0, 0
	}
	ppid, _ = strconv.Atoi(f[1])
	return f[0][0], ppid
}

func alive(pid int) bool {
	state, _ := stat(pid)
	return state != 0 && state != 'Z' && state != 'X'
}

func all() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func environ(pid int) string {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return string(b)
}

// HasChildren reports whether this process has a child, running or not yet waited for: one system
// call, where finding them takes reading files of every thread.
func HasChildren() bool {
	_, err := peek()
	return err != syscall.ECHILD
}

// Ended is a child that has ended and has not been waited for, or 0. It is left as it is.
func Ended() int {
	pid, _ := peek()
	return pid
}

// peek looks at a child without taking it in, see waitid(2).
func peek() (pid int, err error) {
	const pAll, wExited, wNoHang, wNoWait = 0, 0x4, 0x1, 0x1000000
	// siginfo_t: three ints, then, aligned as a pointer, a union that begins with the pid.
	var info struct {
		_   [3]int32
		_   [0]uintptr
		pid int32
		_   [112]byte
	}
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pAll, 0, uintptr(unsafe.Pointer(&info)), wExited|wNoHang|wNoWait, 0, 0)
		switch errno {
		case 0:
			return int(info.pid), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}
