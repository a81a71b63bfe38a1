//go:build !remotebox_runner

package e2b

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/remote-box/remote/backends/e2b/internal/dockerfile"
	"github.com/remote-box/remote/imagehash"
)

// stageDir is the directory of an archive that is merged into a destination.
const stageDir = "d"

// maxLinks is how many symlinks are followed on the way to a source.
const maxLinks = 40

// stage finds the files of a COPY in the context and lays them out as they will stand in the
// template: E2B's builder merges one directory, or moves one file (E2B infra, commands/copy). The
// patterns and Docker's rules about several sources are dealt with here.
func (s *planStep) stage(tree *imagehash.Tree, c *dockerfile.Copy) error {
	l := &layout{tree: tree, files: map[string]*staged{}}
	for _, src := range c.Sources {
		if err := l.add(src); err != nil {
			return err
		}
	}
	for _, f := range c.Inline {
		l.put(f.Name, inlineFile(f))
	}
	owner := c.Owner
	name, single := l.single()
	if single && !l.merges && !strings.HasSuffix(c.Dest, "/") {
		// Moved to the destination; into it, if that is a directory.
		f := l.files[name]
		if strings.ContainsAny(name, "*?[]{}\\\"$`") {
			name = "file" // such a name would be taken for a pattern, or break a script
		}
		f.header.Name = name
		s.files = []*staged{f}
		s.Args = []string{name, c.Dest, owner, c.Mode}
		s.hash = hashFiles(s.files)
		return nil
	}
	s.files = l.list()
	dest := c.Dest
	if !strings.HasSuffix(dest, "/") {
		dest += "/"
	}
	s.Args = []string{stageDir, dest, owner, c.Mode}
	s.hash = hashFiles(s.files)
	return nil
}

// layout is what will stand in a destination, by path in it.
type layout struct {
	tree   *imagehash.Tree
	files  map[string]*staged
	merges bool // a source is a directory
	byPath map[string]imagehash.Entry
}

// add adds a source: everything that matches it.
func (l *layout) add(src string) error {
	if l.byPath == nil {
		l.byPath = map[string]imagehash.Entry{}
		for e := range l.tree.Entries() {
			l.byPath[e.Path] = e
		}
	}
	if !strings.ContainsAny(src, "*?[\\") {
		return l.addPath(src, src)
	}
	var found []string
	for e := range l.tree.Entries() {
		ok, err := path.Match(src, e.Path)
		if err != nil {
			return fmt.Errorf("the pattern %q is malformed", src)
		}
		if ok {
			found = append(found, e.Path)
		}
	}
	if len(found) == 0 {
		return l.nothing(src)
	}
	for _, p := range found {
		if err := l.addPath(p, src); err != nil {
			return err
		}
	}
	return nil
}

// nothing is the error of a source without files. What was kept back as a secret is said to be so.
func (l *layout) nothing(src string) error {
	for _, w := range l.tree.Withheld() {
		if ok, _ := path.Match(src, w); ok || w == src {
			return fmt.Errorf("%s is kept out of the build as a secret; a line \"!%s\" in the ignore file lets it in", w, w)
		}
	}
	return fmt.Errorf("there is no %s in the build context %s; the ignore file may leave it out", src, l.tree.Root())
}

// addPath adds one path: a directory's content, or a file under its own name.
func (l *layout) addPath(p, src string) error {
	if p == "" {
		l.merge("")
		return nil
	}
	e, ok := l.byPath[p]
	for n := 0; ok && e.Kind == imagehash.Symlink; n++ {
		// Docker follows a source, but no link below one.
		target := path.Join(path.Dir(e.Path), e.Target)
		if path.IsAbs(e.Target) {
			target = strings.TrimPrefix(path.Clean(e.Target), "/")
		}
		if e, ok = l.byPath[target]; n == maxLinks {
			return fmt.Errorf("%s is a loop of symlinks", p)
		}
	}
	switch {
	case !ok:
		return l.nothing(src)
	case e.Kind == imagehash.Dir:
		l.merge(e.Path)
	default:
		l.put(path.Base(p), l.file(e))
	}
	return nil
}

// merge adds the content of a directory.
func (l *layout) merge(dir string) {
	l.merges = true
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	for e := range l.tree.Entries() {
		if rel, ok := strings.CutPrefix(e.Path, prefix); ok && rel != "" {
			l.put(rel, l.file(e))
		}
	}
}

func (l *layout) put(rel string, f *staged) { l.files[rel] = f }

// single is the only file, if there is one.
func (l *layout) single() (name string, ok bool) {
	for name := range l.files {
		return name, len(l.files) == 1
	}
	return "", false
}

// list is the layout below stageDir, directories before what is in them.
func (l *layout) list() []*staged {
	list := []*staged{{header: tar.Header{Name: stageDir + "/", Typeflag: tar.TypeDir, Mode: 0o755}}}
	for _, rel := range slices.Sorted(maps.Keys(l.files)) {
		f := l.files[rel]
		f.header.Name = stageDir + "/" + rel
		if f.header.Typeflag == tar.TypeDir {
			f.header.Name += "/"
		}
		list = append(list, f)
	}
	return list
}

func (l *layout) file(e imagehash.Entry) *staged {
	f := &staged{header: tar.Header{Mode: int64(e.Mode().Perm())}}
	switch e.Kind {
	case imagehash.Dir:
		f.header.Typeflag = tar.TypeDir
	case imagehash.Symlink:
		f.header.Typeflag, f.header.Linkname = tar.TypeSymlink, e.Target
	default:
		f.header.Typeflag, f.header.Size = tar.TypeReg, e.Size
		f.sum = hex.EncodeToString(e.Sum[:])
		f.open = func() (io.ReadCloser, error) { return l.tree.Open(e.Path) }
	}
	return f
}

func inlineFile(d dockerfile.File) *staged {
	sum := sha256.Sum256(d.Data)
	return &staged{
		header: tar.Header{Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(d.Data))},
		sum:    hex.EncodeToString(sum[:]),
		open:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(d.Data)), nil },
	}
}

// hashFiles names an archive by its content: E2B keeps archives for all templates of a team under
// such names, and does not compute them itself.
func hashFiles(files []*staged) string {
	h := sha256.New()
	fmt.Fprintf(h, "remote-box copy %s\n", recipe)
	for _, f := range files {
		fmt.Fprintf(h, "%q %c %o %d %q %s\n", f.header.Name, f.header.Typeflag, f.header.Mode, f.header.Size, f.header.Linkname, f.sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}
