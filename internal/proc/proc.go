// Package proc starts and ends trees of processes: a process in a group of its own, and everything
// that it started, also what has left the group.
package proc

import (
	"context"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/remote-box/remote/internal/pause"
)

// Tag is the environment variable by which the processes of a sandbox are found when their
// parents are gone. Its value is the sandbox's id, which processes inherit.
const Tag = "REMOTE_BOX_SANDBOX"

// CallTag is the same for the processes of one call.
const CallTag = "REMOTE_BOX_CALL"

// Alive reports whether the process exists. A zombie does not count.
func Alive(pid int) bool { return pid > 0 && alive(pid) }

// Signal sends sig to every process of pids, ignoring those that are gone.
func Signal(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		if pid > 1 && pid != os.Getpid() {
			kill(pid, sig)
		}
	}
}

// Set finds processes; it is asked again while they are being ended, because they may be
// starting others.
type Set func() []int

// End ends every process that find returns: SIGTERM, then, after grace, SIGKILL until none is
// left. It gives up after ctx ends or some seconds of SIGKILL.
func End(ctx context.Context, find Set, grace time.Duration) {
	if grace > 0 {
		pids := find()
		if len(pids) == 0 {
			return
		}
		Signal(pids, syscall.SIGTERM)
		if waitGone(ctx, find, grace) {
			return
		}
	}
	deadline := time.Now().Add(5 * time.Second)
	for time.Now().Before(deadline) {
		pids := find()
		if len(pids) == 0 {
			// A look at processes that are ending may have missed one.
			if pids = find(); len(pids) == 0 {
				return
			}
		}
		Signal(pids, syscall.SIGKILL)
		if !pause.For(ctx, time.Millisecond) {
			// Even now: a last round, without waiting for its effect.
			Signal(find(), syscall.SIGKILL)
			return
		}
	}
}

// EndTree kills leader, everything below it and whatever others finds. The leader is stopped first:
// what it started is found through its parents, and loses them as they end.
func EndTree(ctx context.Context, leader int, others Set) {
	stop(leader)
	End(ctx, func() []int { return Descendants(leader) }, 0)
	SignalGroup(leader, syscall.SIGKILL)
	End(ctx, others, 0)
}

// waitGone reports whether find returned nothing before d had passed.
func waitGone(ctx context.Context, find Set, d time.Duration) bool {
	deadline := time.Now().Add(d)
	for step := time.Millisecond; ; step = min(2*step, 20*time.Millisecond) {
		if len(find()) == 0 {
			return true
		}
		if time.Now().After(deadline) || !pause.For(ctx, step) {
			return false
		}
	}
}

// Tagged finds the processes whose environment at their start held name=value. Where a process's
// environment can't be read, it finds nothing.
func Tagged(name, value string) []int {
	want := name + "=" + value
	var found []int
	for _, pid := range all() {
		if pid == os.Getpid() {
			continue
		}
		for v := range strings.SplitSeq(environ(pid), "\x00") {
			if v == want {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// Descendants finds the living processes below pid, without itself.
func Descendants(pid int) []int {
	var found []int
	queue := Children(pid)
	for len(queue) > 0 {
		next := queue[0]
		queue = append(queue[1:], Children(next)...)
		if alive(next) {
			found = append(found, next)
		}
		if len(found) > 100_000 {
			break
		}
	}
	return found
}
