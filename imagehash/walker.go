package imagehash

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// walker is one walk. Only the goroutine that walks uses it; the sums of its entries are completed by the hashers.
type walker struct {
	place
	rules    rules
	sys      system
	hashers  *hashers
	entries  []*Entry
	withheld []string
}

// dir walks one directory, whose verdict is v and whose path is rel ("" for the root).
func (w *walker) dir(ctx context.Context, rel string, v verdict) {
	children, err := w.sys.readDir(w.abs(rel))
	if err != nil {
		w.failDir(rel, v, err)
		return
	}
	for _, child := range children {
		if ctx.Err() != nil {
			return
		}
		name := child.Name()
		if rel != "" {
			name = rel + "/" + name
		}
		w.entry(ctx, name, child, v)
	}
}

// failDir reports a directory that cannot be listed. As with Docker, one need not be able to look into what is left out.
func (w *walker) failDir(rel string, v verdict, err error) {
	switch {
	case v.out() && (gone(err) || errors.Is(err, fs.ErrPermission)):
	case gone(err) && rel != "":
		w.hashers.fail(rel, w.changed(rel, "removed"))
	default:
		w.fail(rel, err)
	}
}

// entry adds one path to the context, if it is part of it, and what is below.
func (w *walker) entry(ctx context.Context, rel string, child fs.DirEntry, parent verdict) {
	v, err := w.rules.judge(parent, rel, child.Type())
	if err != nil {
		w.fail(rel, err)
		return
	}
	if v.secret && !parent.secret && !v.ignored {
		w.withheld = append(w.withheld, rel)
	}
	switch t := child.Type(); {
	case t.IsDir():
		w.subdir(ctx, rel, v)
	case v.out():
	case t.IsRegular():
		w.file(rel, child)
	case t&fs.ModeSymlink != 0:
		w.symlink(rel)
	default:
		w.fail(rel, fmt.Errorf("%w, not %s", ErrSpecial, special(t)))
	}
}

// subdir walks a directory unless nothing below can be part of the context. A directory that is left out becomes part of it
// by what is kept below.
func (w *walker) subdir(ctx context.Context, rel string, v verdict) {
	if v.out() && !w.rules.mayKeepBelow(v, rel) {
		return
	}
	before := len(w.entries)
	w.dir(ctx, rel, v)
	if !v.out() || len(w.entries) > before {
		w.entries = append(w.entries, &Entry{Path: rel, Kind: Dir})
	}
}

// file hands a file to the hashers. One that is gone before it was looked at never was part of the context.
func (w *walker) file(rel string, child fs.DirEntry) {
	info, err := child.Info()
	switch {
	case gone(err):
		return
	case err != nil:
		w.fail(rel, err)
		return
	case !info.Mode().IsRegular():
		w.hashers.fail(rel, w.changed(rel, "kind"))
		return
	}
	e := &Entry{Path: rel, Kind: File, Size: info.Size(), Executable: info.Mode()&0o100 != 0}
	w.entries = append(w.entries, e)
	w.hashers.add(job{entry: e, seen: info})
}

func (w *walker) symlink(rel string) {
	target, err := os.Readlink(w.abs(rel))
	switch {
	case gone(err):
		return
	case errors.Is(err, syscall.EINVAL):
		w.hashers.fail(rel, w.changed(rel, "kind"))
		return
	case err != nil:
		w.fail(rel, err)
		return
	}
	target = filepath.ToSlash(target)
	w.entries = append(w.entries, &Entry{Path: rel, Kind: Symlink, Target: target, Sum: sha256.Sum256([]byte(target))})
}

func (w *walker) fail(rel string, err error) { w.hashers.fail(rel, w.failed(rel, err)) }

// special names what cannot be part of an image.
func special(t fs.FileMode) string {
	switch {
	case t&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case t&fs.ModeSocket != 0:
		return "a socket"
	case t&fs.ModeDevice != 0:
		return "a device"
	default:
		return "something irregular"
	}
}
