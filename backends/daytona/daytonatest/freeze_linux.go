//go:build linux && !remotebox_runner

package daytonatest

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// freeze stops the machine's processes. One may fork while it is being stopped, so it looks again until nothing runs.
func freeze(m machine) error {
	signalled := map[int]bool{}
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) {
		running := 0
		for _, pid := range m.pids() {
			if standsStill(pid, signalled[pid]) {
				continue
			}
			running++
			signalled[pid] = true
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
		if running == 0 {
			return nil
		}
		time.Sleep(time.Millisecond) // for the signal to arrive
	}
	return errors.New("some processes can't be frozen")
}

// standsStill reports whether the process is stopped, or dead, or will be stopped before it runs again: a process that
// waits in the kernel takes the signal when it leaves it, and one whose vfork has not reached its exec waits for a child
// that is stopped.
func standsStill(pid int, signalled bool) bool {
	switch processState(pid) {
	case 'T', 't', 'Z', 'X':
		return true
	case 'D':
		return signalled
	}
	return false
}

// processState is the letter that /proc has for a process; X when there is none.
func processState(pid int) byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 'X'
	}
	// The name before it is in parentheses, and may have some.
	i := strings.LastIndex(string(stat), ") ")
	if i < 0 || i+2 >= len(stat) {
		return 'X'
	}
	return stat[i+2]
}
