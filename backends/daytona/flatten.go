//go:build !remotebox_runner

package daytona

import (
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/remote-box/remote/imagehash"
)

// flatten makes regular files of a context: a symlink becomes what it points to, which must be in
// the context.
func flatten(t *imagehash.Tree) ([]flatFile, error) {
	f := &flattener{entries: map[string]imagehash.Entry{}, below: map[string][]string{}}
	for e := range t.Entries() {
		f.entries[e.Path] = e
		dir := path.Dir(e.Path)
		f.below[dir] = append(f.below[dir], e.Path)
	}
	if err := f.add(".", ".", 0); err != nil {
		return nil, err
	}
	sort.Slice(f.files, func(i, j int) bool { return f.files[i].name < f.files[j].name })
	return f.files, nil
}

type flattener struct {
	entries map[string]imagehash.Entry
	below   map[string][]string // what is in a directory
	files   []flatFile
}

// maxLinks is how many symlinks may follow one another: there is a circle if there are more.
const maxLinks = 40

var errCircle = errors.New("its symlinks go round in a circle")

// add adds what is at the path from under the name name.
func (f *flattener) add(name, from string, links int) error {
	e := f.entries[from]
	switch {
	case from == "." || e.Kind == imagehash.Dir:
		for _, p := range f.below[from] {
			if err := f.add(path.Join(name, path.Base(p)), p, links); err != nil {
				return err
			}
		}
	case e.Kind == imagehash.File:
		f.files = append(f.files, flatFile{name, e})
	case e.Kind == imagehash.Symlink:
		if links == maxLinks {
			return fmt.Errorf("the build context: %s: %w", name, errCircle)
		}
		to, err := f.resolve(from, 0)
		if err != nil {
			return fmt.Errorf("the build context: the symlink %s: %w; Daytona's builders know no symlinks, so that what one points to must be in the context: exclude it in .dockerignore, or make it in a RUN line", from, err)
		}
		return f.add(name, to, links+1)
	}
	return nil
}

// resolve finds what a symlink points to.
func (f *flattener) resolve(link string, depth int) (string, error) {
	target := f.entries[link].Target
	if path.IsAbs(target) {
		return "", fmt.Errorf("it points to %s, outside the context", target)
	}
	at := path.Dir(link)
	for _, part := range strings.Split(target, "/") {
		if at = path.Join(at, part); at == ".." || strings.HasPrefix(at, "../") {
			return "", fmt.Errorf("it points to %s, outside the context", target)
		}
		e, ok := f.entries[at]
		if !ok && at != "." {
			return "", fmt.Errorf("it points to %s, which is not in the context", target)
		}
		if e.Kind == imagehash.Symlink {
			if depth == maxLinks {
				return "", errCircle
			}
			var err error
			if at, err = f.resolve(at, depth+1); err != nil {
				return "", err
			}
		}
	}
	return at, nil
}
