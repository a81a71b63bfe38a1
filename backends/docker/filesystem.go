//go:build !remotebox_runner

package docker

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tonistiigi/fsutil"
	"github.com/tonistiigi/fsutil/types"

	"github.com/remote-box/remote/imagehash"
)

// timestamp is the time of every file that is sent to a builder, 2000-01-01 in nanoseconds: what
// is built must not depend on when files were checked out, and zip files know no time before 1980.
const timestamp = 946684800 * 1e9

// tree is a file system as BuildKit takes it: entries in the order in which filepath.WalkDir would
// come upon them, and a way to open the files.
type tree struct {
	entries []*types.Stat
	open    func(path string) (io.ReadCloser, error)
}

// inWalkOrder sorts entries: what is in a directory comes right after it.
func (t *tree) inWalkOrder() *tree {
	slices.SortFunc(t.entries, func(a, b *types.Stat) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
	return t
}

// contextTree shows exactly what was hashed.
func contextTree(t *imagehash.Tree) *tree {
	out := &tree{open: t.Open}
	for e := range t.Entries() {
		out.entries = append(out.entries, &types.Stat{
			Path: e.Path, Mode: uint32(e.Mode()), Size: e.Size, Linkname: e.Target, ModTime: timestamp,
		})
	}
	return out.inWalkOrder()
}

// files is a tree that is put together here.
type files struct {
	tree
	content map[string][]byte
	onDisk  map[string]string
}

func newFiles() *files {
	f := &files{content: map[string][]byte{}, onDisk: map[string]string{}}
	f.open = func(p string) (io.ReadCloser, error) {
		if b, ok := f.content[p]; ok {
			return io.NopCloser(bytes.NewReader(b)), nil
		}
		if name, ok := f.onDisk[p]; ok {
			return os.Open(name)
		}
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return f
}

func (f *files) add(p string, mode fs.FileMode, size int64) {
	if dir := path.Dir(p); dir != "." && !slices.ContainsFunc(f.entries, func(s *types.Stat) bool { return s.Path == dir }) {
		f.add(dir, fs.ModeDir|0o755, 0)
	}
	f.entries = append(f.entries, &types.Stat{Path: p, Mode: uint32(mode), Size: size, ModTime: timestamp})
}

// file adds a file and the directories above it.
func (f *files) file(p string, mode fs.FileMode, content []byte) {
	f.content[p] = content
	f.add(p, mode, int64(len(content)))
}

// disk adds a file whose content is in the file name.
func (f *files) disk(p string, mode fs.FileMode, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	f.onDisk[p] = name
	f.add(p, mode, info.Size())
	return nil
}

// Open implements fsutil.FS.
func (t *tree) Open(p string) (io.ReadCloser, error) { return t.open(filepath.ToSlash(p)) }

// Walk implements fsutil.FS.
func (t *tree) Walk(ctx context.Context, target string, fn fs.WalkDirFunc) error {
	target = strings.Trim(path.Clean("/"+filepath.ToSlash(target)), "/")
	skip, found := "", target == ""
	for _, s := range t.entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !below(s.Path, target) && s.Path != target || skip != "" && below(s.Path, skip) {
			continue
		}
		found = true
		err := fn(filepath.FromSlash(s.Path), &fsutil.DirEntryInfo{Stat: s.CloneVT()}, nil)
		switch {
		case err == filepath.SkipAll:
			return nil
		case err == filepath.SkipDir && fs.FileMode(s.Mode).IsDir():
			skip = s.Path
		case err == filepath.SkipDir:
			if skip = path.Dir(s.Path); skip == "." {
				return nil
			}
		case err != nil:
			return err
		}
	}
	if !found {
		err := fn(target, nil, &fs.PathError{Op: "lstat", Path: target, Err: fs.ErrNotExist})
		if err == filepath.SkipDir || err == filepath.SkipAll {
			return nil
		}
		return err
	}
	return nil
}

func below(p, dir string) bool { return dir == "" || strings.HasPrefix(p, dir+"/") }
