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

// flatten makes regular files of a context: a symlink becomes what it points to. One that points to
// nothing in the context is left out: in an image built elsewhere it would dangle, or point to what
// the image has there, and most often no COPY asks for it. left says which, and why.
func flatten(t *imagehash.Tree) (files []flatFile, left []string, err error) {
	f := &flattener{entries: map[string]imagehash.Entry{}, below: map[string][]string{}, walked: map[string]bool{}}
	for e := range t.Entries() {
		f.entries[e.Path] = e
		dir := path.Dir(e.Path)
		f.below[dir] = append(f.below[dir], e.Path)
	}
	if err := f.add(".", "."); err != nil {
		return nil, nil, err
	}
	sort.Slice(f.files, func(i, j int) bool { return f.files[i].name < f.files[j].name })
	return f.files, f.left, nil
}

type flattener struct {
	entries map[string]imagehash.Entry
	below   map[string][]string // what is in a directory
	walked  map[string]bool     // the directories in which add is
	files   []flatFile
	left    []string
}

// maxLinks is how many symlinks may follow one another: there is a circle if there are more.
const maxLinks = 40

var errCircle = errors.New("its symlinks go round in a circle")

// add adds what is at the path from under the name name.
func (f *flattener) add(name, from string) error {
	e := f.entries[from]
	switch {
	case from == "." || e.Kind == imagehash.Dir:
		f.walked[from] = true
		defer delete(f.walked, from)
		for _, p := range f.below[from] {
			if err := f.add(path.Join(name, path.Base(p)), p); err != nil {
				return err
			}
		}
	case e.Kind == imagehash.File:
		f.files = append(f.files, flatFile{name, e})
	case e.Kind == imagehash.Symlink:
		to, err := f.resolve(from, 0)
		if err != nil {
			f.left = append(f.left, fmt.Sprintf("the symlink %s: %v", name, err))
			return nil
		}
		if f.walked[to] {
			return fmt.Errorf("the build context: the symlink %s points to a directory that it is in (%s), and Daytona's builders know no symlinks: exclude it in .dockerignore", from, to)
		}
		return f.add(name, to)
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
