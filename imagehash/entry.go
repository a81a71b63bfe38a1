package imagehash

import (
	"fmt"
	"io/fs"
)

// Kind is what an entry is.
type Kind uint8

// The kinds that a context can contain.
const (
	Dir Kind = iota + 1
	File
	Symlink
)

func (k Kind) String() string {
	switch k {
	case Dir:
		return "directory"
	case File:
		return "file"
	case Symlink:
		return "symlink"
	default:
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
}

// Entry is one path of a context.
type Entry struct {
	// Path is relative to the root and slash-separated on every OS. It need not be UTF-8. The root itself is no entry.
	Path string
	Kind Kind

	// Executable is the owner's executable bit of a file.
	Executable bool

	// Size is the length of a file's content in bytes.
	Size int64

	// Target is where a symlink points, slash-separated and otherwise untouched: it may point outside the context or nowhere.
	Target string

	// Sum is the SHA-256 of a file's content or of a symlink's target.
	Sum Sum
}

// Mode is the mode that the entry has in every image: 0755 for directories and executable files, 0644 for other files,
// 0777 for symlinks. The modes on the host's disk depend on somebody's umask.
func (e Entry) Mode() fs.FileMode {
	switch {
	case e.Kind == Dir:
		return fs.ModeDir | 0o755
	case e.Kind == Symlink:
		return fs.ModeSymlink | 0o777
	case e.Executable:
		return 0o755
	default:
		return 0o644
	}
}

// letter is the entry's kind as the digest and the summary spell it.
func (e Entry) letter() byte {
	switch {
	case e.Kind == Dir:
		return 'd'
	case e.Kind == Symlink:
		return 'l'
	case e.Executable:
		return 'x'
	default:
		return 'f'
	}
}
