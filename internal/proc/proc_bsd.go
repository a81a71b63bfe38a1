//go:build unix && !linux

package proc

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// Subreaper does nothing here: only Linux has the call. A process that starts a session of its
// own and outlives its parent is found by its tag, if at all.
func Subreaper() {}

// Children finds the living children of pid.
func Children(pid int) []int {
	var found []int
	for _, p := range ps() {
		if p.ppid == pid {
			found = append(found, p.pid)
		}
	}
	return found
}

type process struct {
	pid, ppid int
	state     string
	env       string
}

// ps reads the process table with ps(1), whose output POSIX defines; -E is BSD's way to show the
// environment of one's own processes.
func ps() []process {
	out, err := exec.Command("ps", "-A", "-E", "-o", "pid=,ppid=,stat=,command=").Output()
	if err != nil {
		return nil
	}
	var found []process
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		pid, _ := strconv.Atoi(f[0])
		ppid, _ := strconv.Atoi(f[1])
		found = append(found, process{pid, ppid, f[2], strings.Join(f[3:], "\x00")})
	}
	return found
}

func alive(pid int) bool {
	for _, p := range ps() {
		if p.pid == pid {
			return !strings.HasPrefix(p.state, "Z")
		}
	}
	return syscall.Kill(pid, 0) == nil
}

func all() []int {
	var pids []int
	for _, p := range ps() {
		pids = append(pids, p.pid)
	}
	return pids
}

func environ(pid int) string {
	for _, p := range ps() {
		if p.pid == pid {
			return p.env
		}
	}
	return ""
}

// Ended is a child that has ended and has not been waited for, or 0. It is left as it is.
func Ended() int {
	for _, p := range ps() {
		if p.ppid == os.Getpid() && strings.HasPrefix(p.state, "Z") {
			return p.pid
		}
	}
	return 0
}

// HasChildren reports whether this process may have a child.
func HasChildren() bool { return true }
