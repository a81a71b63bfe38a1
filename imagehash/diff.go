package imagehash

import (
	"cmp"
	"slices"
)

// Op is what happened to a path between two summaries.
type Op string

// What can happen to a path.
const (
	Added   Op = "added"
	Removed Op = "removed"
	Changed Op = "changed"
)

// Change is one difference between two summaries.
type Change struct {
	Op   Op
	Path string
	// Detail says what is different at a path that both have: "content", "target", "now executable", "file to symlink".
	Detail string
}

func (c Change) String() string {
	if c.Detail == "" {
		return string(c.Op) + " " + printable(c.Path)
	}
	return string(c.Op) + " " + printable(c.Path) + " (" + c.Detail + ")"
}

// Diff lists what is different in to, compared with from, in the byte order of paths. Neither need be sorted: people edit
// lock files.
func Diff(from, to Summary) []Change {
	from, to = sorted(from), sorted(to)
	var changes []Change
	for len(from) > 0 || len(to) > 0 {
		switch {
		case len(to) == 0 || len(from) > 0 && from[0].Path < to[0].Path:
			changes = append(changes, Change{Op: Removed, Path: from[0].Path})
			from = from[1:]
		case len(from) == 0 || to[0].Path < from[0].Path:
			changes = append(changes, Change{Op: Added, Path: to[0].Path})
			to = to[1:]
		default:
			if from[0] != to[0] {
				changes = append(changes, Change{Op: Changed, Path: to[0].Path, Detail: detail(from[0], to[0])})
			}
			from, to = from[1:], to[1:]
		}
	}
	return changes
}

func sorted(s Summary) Summary {
	return slices.SortedFunc(slices.Values(s), func(a, b Line) int { return cmp.Compare(a.Path, b.Path) })
}

// detail names the difference of two lines with one path.
func detail(from, to Line) string {
	wasFile, isFile := from.Kind == 'f' || from.Kind == 'x', to.Kind == 'f' || to.Kind == 'x'
	var mode string
	switch {
	case wasFile && isFile && from.Kind != to.Kind && to.Kind == 'x':
		mode = "now executable"
	case wasFile && isFile && from.Kind != to.Kind:
		mode = "no longer executable"
	case from.Kind != to.Kind:
		return kindName(from.Kind) + " to " + kindName(to.Kind)
	case from.Kind == 'l':
		return "target"
	}
	switch {
	case from.Sum == to.Sum:
		return mode
	case mode == "":
		return "content"
	default:
		return "content, " + mode
	}
}

func kindName(letter byte) string {
	switch letter {
	case 'd':
		return "directory"
	case 'l':
		return "symlink"
	default:
		return "file"
	}
}
