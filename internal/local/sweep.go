//go:build !remotebox_runner

package local

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/remote-box/remote/internal/proc"
)

// sweep removes the sandboxes whose programs died without closing them. It looks at most every
// few minutes, whichever program of this user does.
func sweep(base string) {
	stamp := filepath.Join(base, ".swept")
	if info, err := os.Stat(stamp); err == nil && time.Since(info.ModTime()) < sweepEvery {
		return
	}
	if os.WriteFile(stamp, nil, 0o600) != nil {
		return
	}
	now := time.Now()
	os.Chtimes(stamp, now, now)
	Sweep(base)
}

// Sweep removes the sandboxes below base whose programs died without closing them, and those that
// were paused and forgotten.
func Sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(base, e.Name())
		id := strings.TrimSuffix(e.Name(), stateName)
		if !validID(id) || !abandoned(dir, id) {
			continue
		}
		proc.Signal(proc.Tagged(proc.Tag, id), 9)
		removeAll(dir)
	}
}

func abandoned(dir, id string) bool {
	if info, err := os.Stat(filepath.Join(dir, pausedFile)); err == nil {
		return time.Since(info.ModTime()) > pausedLimit
	}
	pidText, _, _ := strings.Cut(strings.TrimPrefix(id, "p"), "x")
	if owner, err := os.ReadFile(filepath.Join(dir, ownerFile)); err == nil {
		pidText = string(owner)
	}
	pid, err := strconv.Atoi(pidText)
	return err == nil && pid != os.Getpid() && !proc.Alive(pid)
}
