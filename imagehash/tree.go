package imagehash

import (
	"cmp"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
)

// Tree is what one walk found. It holds no content and no open file, never changes, and is safe for concurrent use.
type Tree struct {
	place
	entries  []Entry // sorted by path
	withheld []string
	digest   Digest
	sys      system
}

func newTree(at place, entries []*Entry, withheld []string, sys system) *Tree {
	t := &Tree{place: at, withheld: withheld, sys: sys}
	t.entries = make([]Entry, 0, len(entries))
	for _, e := range entries {
		t.entries = append(t.entries, *e)
	}
	slices.SortFunc(t.entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(t.withheld)
	t.digest = digest(t.entries)
	return t
}

// Root is the directory that was walked, absolute and free of symlinks.
func (t *Tree) Root() string { return t.root }

// IgnoreFile is the path of the ignore file that was used, or empty if there is none.
func (t *Tree) IgnoreFile() string { return t.ignoreFile }

// Digest identifies the tree's entries. The package comment says how it is made.
func (t *Tree) Digest() Digest { return t.digest }

// Len is the number of entries.
func (t *Tree) Len() int { return len(t.entries) }

// Entries returns the entries in the byte order of their paths, so that a directory comes before what is in it.
func (t *Tree) Entries() iter.Seq[Entry] { return slices.Values(t.entries) }

// Withheld returns the paths of secrets that the ignore file does not exclude and that no "!" line asks for. A user whose
// build misses a file wants to see this list. It is the same for every selection of a tree.
func (t *Tree) Withheld() []string { return slices.Clone(t.withheld) }

// Select returns the part of the tree that keep accepts, with the directories on the way there. It is for builders that
// upload what each COPY step names by itself: the result has its own digest.
func (t *Tree) Select(keep func(Entry) bool) *Tree {
	wanted := map[string]bool{}
	for _, e := range t.entries {
		if !keep(e) {
			continue
		}
		for p := e.Path; p != "." && !wanted[p]; p = path.Dir(p) {
			wanted[p] = true
		}
	}
	part := *t
	part.entries = slices.DeleteFunc(slices.Clone(t.entries), func(e Entry) bool { return !wanted[e.Path] })
	part.digest = digest(part.entries)
	return &part
}

// Open opens a file of the tree for an upload. Its last bytes can only be read if all of it is what was hashed; otherwise
// Read returns a [*ChangedError] instead of them. The caller closes the reader, which is not safe for concurrent use.
func (t *Tree) Open(p string) (io.ReadCloser, error) {
	i, ok := slices.BinarySearchFunc(t.entries, p, func(e Entry, p string) int { return cmp.Compare(e.Path, p) })
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	if t.entries[i].Kind != File {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrInvalid}
	}
	return t.open(t.entries[i])
}
