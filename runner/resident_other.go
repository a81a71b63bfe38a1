//go:build !linux

package runner

import (
	"fmt"
	"os"
)

// Containers run Linux.

func runInit() int   { return noContainer() }
func runAttach() int { return noContainer() }
func runKill() int   { return noContainer() }

func noContainer() int {
	fmt.Fprintln(os.Stderr, "remote-box runner: only on Linux can it be a sandbox's first process")
	return 2
}
