//go:build unix && !linux && !remotebox_runner

package daytonatest

import (
	"errors"
	"os"
)

func openSystem(cfg Config) (system, string, bool, error) {
	dir, own, err := makeDir(cfg.Dir, os.TempDir())
	if err != nil {
		return nil, "", false, err
	}
	return &dirSystem{root: dir}, dir, own, nil
}

// hostPids can't tell whose a process is without /proc; process groups have to do.
func hostPids(func(pid string) bool) []int { return nil }

func listeningPorts(int, []int) []int { return nil }

func freeze(machine) error {
	return errors.New("pausing a sandbox needs /proc, to see that its processes have stopped")
}
