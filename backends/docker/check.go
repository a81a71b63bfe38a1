//go:build !remotebox_runner

package docker

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/distribution/reference"

	"github.com/remote-box/remote/driver"
)

// minMemoryMB is the smallest limit that an engine accepts.
const minMemoryMB = 6

// check finds what is wrong with a backend value before anything is asked of an engine.
func (b Backend) check() error {
	if err := driver.CheckEnv("docker.Backend.Env", b.Env); err != nil {
		return err
	}
	switch {
	case b.CPUs < 0:
		return fmt.Errorf("docker.Backend.CPUs: %v is negative", b.CPUs)
	case b.MemoryMB < 0:
		return fmt.Errorf("docker.Backend.MemoryMB: %d is negative", b.MemoryMB)
	case b.MemoryMB > 0 && b.MemoryMB < minMemoryMB:
		return fmt.Errorf("docker.Backend.MemoryMB: %d is less than an engine accepts; give it %d or more, or 0 for no limit", b.MemoryMB, minMemoryMB)
	case b.PIDs < 0:
		return fmt.Errorf("docker.Backend.PIDs: %d is negative", b.PIDs)
	case b.Pinned != "" && b.Dockerfile != "":
		return fmt.Errorf("docker.Backend: Pinned says which image to use, Dockerfile how to make one; set one of them")
	}
	if _, err := reference.ParseNormalizedNamed(b.repository() + ":x"); err != nil {
		return fmt.Errorf("docker.Backend.Prefix: %q is not the name of a repository: %w", b.Prefix, err)
	}
	for _, m := range b.Mounts {
		if !path.IsAbs(m.Target) {
			return fmt.Errorf("docker.Backend.Mounts: the target %q is not an absolute path", m.Target)
		}
		if m.Source == "" || strings.ContainsAny(m.Source, `/\`) && !filepath.IsAbs(m.Source) && !path.IsAbs(m.Source) {
			return fmt.Errorf("docker.Backend.Mounts: the source %q is neither an absolute path nor a volume's name", m.Source)
		}
	}
	_, _, err := b.target()
	return err
}

// repository is the prefix of image names.
func (b Backend) repository() string {
	if b.Prefix == "" {
		return DefaultPrefix
	}
	return b.Prefix
}
