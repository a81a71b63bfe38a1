//go:build !remotebox_runner

package build

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// lockName is the name of lock files, as package remote has it.
const lockName = "remote-box.lock.json"

// emptyLock is a lock that says nothing.
const emptyLock = "{\n  \"version\": 1,\n  \"images\": []\n}\n"

// A program may embed its lock, which names its image, which holds its runner: were the lock in the
// runner, no lock could ever be true. So that runners do not depend on it, each of their builds
// sees an empty one wherever the tree has a lock, and where the first build needs one: in the
// module's directory, and beside a main package.

// findLocks finds the lock files of the module.
func (g *goCommand) findLocks() {
	g.locks = []string{filepath.Join(g.dir, lockName)}
	filepath.WalkDir(g.dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // of what can't be read nothing is embedded
		case d.IsDir() && name != g.dir && skipped(d.Name()):
			return fs.SkipDir
		case d.Name() == lockName && !slices.Contains(g.locks, name):
			g.locks = append(g.locks, name)
		}
		return nil
	})
}

func skipped(dir string) bool {
	return strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_") || dir == "testdata" || dir == "node_modules"
}

// hideLocks lays an empty lock over each of files.
func (o *overlay) hideLocks(files ...string) error {
	if len(files) == 0 {
		return nil
	}
	real := filepath.Join(o.dir, "empty-"+lockName)
	for _, f := range files {
		o.Replace[f] = real
	}
	return os.WriteFile(real, []byte(emptyLock), 0o600)
}

// missingLock is the lock that a package embeds and that does not exist, because nothing was built
// yet.
func (p *hostPackage) missingLock() (file string, ok bool) {
	for _, pattern := range p.EmbedPatterns {
		if path.Base(pattern) != lockName {
			continue
		}
		file := filepath.Join(p.Dir, filepath.FromSlash(strings.TrimPrefix(pattern, "all:")))
		if _, err := os.Stat(file); err != nil {
			return file, true
		}
	}
	return "", false
}
