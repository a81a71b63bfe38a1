//go:build linux && !remotebox_runner

package daytonatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// openSystem chooses how sandboxes are kept apart, and where their disks lie: overlayfs can't write to every file system
// (not to another overlay, as inside a container), so a place that works is looked for.
func openSystem(cfg Config) (system, string, bool, error) {
	candidates := []string{os.TempDir(), "/dev/shm"}
	if os.Geteuid() == 0 && !cfg.Directories {
		// The os package tries out a few system calls on its first child. That child must not become process 1
		// of a sandbox, so it is had here.
		if err := exec.Command("/bin/sh", "-c", ":").Run(); err != nil {
			return nil, "", false, err
		}
		for _, parent := range candidates {
			dir, own, err := makeDir(cfg.Dir, parent)
			if err != nil {
				continue
			}
			sys, err := newNSSystem(dir)
			if err == nil {
				return sys, dir, own, nil
			}
			cfg.Logf("no namespaces with %s: %v", dir, err)
			if own {
				_ = os.RemoveAll(dir)
			}
		}
	}
	dir, own, err := makeDir(cfg.Dir, os.TempDir())
	if err != nil {
		return nil, "", false, err
	}
	return &dirSystem{root: dir}, dir, own, nil
}

// hostPids are the processes that mine says yes to, given their directory below /proc.
func hostPids(mine func(proc string) bool) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err == nil && pid != os.Getpid() && mine(filepath.Join("/proc", e.Name())) {
			pids = append(pids, pid)
		}
	}
	return pids
}
