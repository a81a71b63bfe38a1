//go:build !remotebox_runner

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
		id := strings.TrimSuffix(e.Name(), stateName)
		if !validID(id) {
			continue
		}
		sweepOne(base, id)
	}
}

// sweepOne removes a sandbox if nobody owns it. What is being made or removed right now is left alone.
func sweepOne(base, id string) {
	dir := filepath.Join(base, id)
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		// A single call's state, whose program died while it removed the sandbox.
		state := dir + stateName
		if info, err := os.Lstat(state); err == nil && time.Since(info.ModTime()) > youngLimit {
			os.RemoveAll(state)
		}
		return
	}
	if err != nil || time.Since(info.ModTime()) < youngLimit {
		return
	}
	if paused, err := os.Stat(filepath.Join(dir, pausedFile)); err == nil && time.Since(paused.ModTime()) < pausedLimit {
		return
	}
	o := tryOwn(dir)
	if o == nil {
		return
	}
	defer o.release()
	proc.Signal(proc.Tagged(proc.Tag, id), 9)
	removeAll(dir)
	os.RemoveAll(dir + stateName)
}
