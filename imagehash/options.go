package imagehash

import (
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Options says how a context is walked. The zero value is the default.
type Options struct {
	// Dockerfile is the Dockerfile that the context belongs to: absolute, or relative to the root. It need not exist or lie
	// in the context; it only says where NAME.dockerignore would be. Empty means "Dockerfile".
	Dockerfile string

	// Exclude lists slash-separated paths, relative to the root, that are never part of the context, nor is anything below
	// them: a lock file that does not have the usual name, a directory that the build writes to.
	Exclude []string

	// Workers bounds how many files are hashed at the same time. Zero means GOMAXPROCS.
	Workers int
}

func (o Options) dockerfile(root string) string {
	name := o.Dockerfile
	if name == "" {
		name = "Dockerfile"
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(root, name)
}

func (o Options) exclude() map[string]bool {
	set := make(map[string]bool, len(o.Exclude))
	for _, p := range o.Exclude {
		set[strings.TrimPrefix(path.Clean("/"+p), "/")] = true
	}
	return set
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}
