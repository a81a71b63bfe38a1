package imagehash

import (
	"io/fs"
	"slices"
)

// lockName is the lock file's usual name. Its content follows from the digest, so the digest cannot follow from it.
const lockName = "remote-box.lock.json"

// AlwaysExcluded returns the names that are no part of any context, at any depth, whatever the ignore file says: files
// and directories of version control, caches, virtualenvs, installed packages, and the lock file. A regular file that
// happens to have a directory's name, a script called venv, is kept. Changing the list changes digests.
func AlwaysExcluded() []string {
	var names []string
	for name := range alwaysExcluded() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// nameRule says for which kinds of entry a name is special.
type nameRule uint8

const (
	anyKind     nameRule = iota // a file too: in a worktree .git is one
	onlyRegular                 // files and symlinks
	notRegular                  // directories and symlinks to them: a script may well be called venv
)

func (r nameRule) covers(t fs.FileMode) bool {
	switch r {
	case onlyRegular:
		return !t.IsDir()
	case notRegular:
		return !t.IsRegular()
	default:
		return true
	}
}

func alwaysExcluded() map[string]nameRule {
	return map[string]nameRule{
		".DS_Store":     onlyRegular,
		".git":          anyKind,
		".hg":           notRegular,
		".mypy_cache":   notRegular,
		".pytest_cache": notRegular,
		".ruff_cache":   notRegular,
		".svn":          notRegular,
		".tox":          notRegular,
		".venv":         notRegular,
		"__pycache__":   notRegular,
		"node_modules":  notRegular,
		"venv":          notRegular,
		lockName:        onlyRegular,
	}
}
