//go:build !remotebox_runner

package jail

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// innerPID translates a pid of the host into the one that the process has in
// its own process name space. The process must not have been waited for yet.
func innerPID(pid int) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if list, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(list)
			return strconv.Atoi(fields[len(fields)-1])
		}
	}
	return 0, fmt.Errorf("pid %d: no NSpid in /proc", pid)
}

// pids lists the jail's processes by their numbers on the host, in ascending
// order, process 1 and those that have ended left out.
func (j *Jail) pids() ([]int, error) {
	member := j.marked
	if j.Confined() {
		space, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", j.init.Process.Pid))
		if err != nil {
			return nil, err
		}
		member = func(pid int) bool {
			link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
			return err == nil && link == space && pid != j.init.Process.Pid
		}
	}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && pid != os.Getpid() && member(pid) {
			if state := processState(pid); state != 0 && state != 'Z' && state != 'X' {
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	return pids, nil
}

// marked tells the processes of an unconfined jail by their environment, which
// a child inherits wherever it goes.
func (j *Jail) marked(pid int) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00E2B_SANDBOX_ID="+j.cfg.ID+"\x00"))
}

// processState is the state letter of /proc/PID/stat; 0 when there is none.
func processState(pid int) byte {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name, in parentheses, may hold anything.
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 || i+2 >= len(stat) {
		return 0
	}
	return stat[i+2]
}

// Freeze stops every process of the jail, and returns when all have stopped.
func (j *Jail) Freeze() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return ErrClosed
	}
	deadline := time.Now().Add(10 * time.Second)
	for quiet := 0; ; {
		pids, err := j.pids()
		if err != nil {
			return err
		}
		moving := 0
		for _, pid := range pids {
			switch state := processState(pid); {
			case state == 'T':
				continue // by us, or stopped before and to stay so
			case state == 'D' && slices.Contains(j.frozen, pid):
				continue // waits in vfork for a child that has stopped
			}
			moving++
			if !slices.Contains(j.frozen, pid) && syscall.Kill(pid, syscall.SIGSTOP) == nil {
				j.frozen = append(j.frozen, pid)
			}
		}
		// A process may have forked while we looked, so look until all stand still; and once more,
		// because one that is about to execute another program shows no environment for a moment.
		if quiet++; moving > 0 {
			quiet = 0
		}
		if quiet == 2 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("jail: %d processes did not stop", moving)
		}
		time.Sleep(time.Millisecond) // nothing reports the stop of another's child
	}
}

// Thaw continues what Freeze stopped.
func (j *Jail) Thaw() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return ErrClosed
	}
	// Children before parents, so that no shell sees a stopped job.
	for _, pid := range slices.Backward(j.frozen) {
		syscall.Kill(pid, syscall.SIGCONT) // may have been killed meanwhile
	}
	j.frozen = nil
	return nil
}

// killMarked kills an unconfined jail's processes until none is left.
func (j *Jail) killMarked() error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		pids, err := j.pids()
		if err != nil || len(pids) == 0 {
			return err
		}
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("jail: processes %v survive SIGKILL", pids)
		}
		time.Sleep(time.Millisecond) // nothing reports the end of another's child
	}
}
