package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

// lockFile is the lock that a build reads and writes.
type lockFile struct {
	name   string
	before []byte       // its content, nil if there was no file
	old    *remote.Lock // what it said
	bad    error        // why that can't be read; then old is empty
	new    *remote.Lock // what it should say
}

// readLock reads the lock file of that name, or the one of what was found. There need be none. One
// with nothing that can be read, such as after a merge with conflicts, is no error here but bad.
func readLock(name string, found *build.Found) (*lockFile, error) {
	if name == "" {
		name = filepath.Join(found.Dir, remote.LockFile)
	}
	l := &lockFile{name: name, old: &remote.Lock{}, new: &remote.Lock{}}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the lock file: %w", err)
	}
	l.before = b
	old, err := remote.ParseLock(b)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, fmt.Errorf("%s: %w", short(name), err)
	case err != nil:
		l.bad = fmt.Errorf("%s: %w", short(name), err)
	default:
		l.old = old
	}
	return l, nil
}

// merge computes the new lock: images that are ready take the place of what the lock said of them,
// what failed and what was not looked at stays. When the module was looked at completely, entries
// of it that nothing stands for any more go.
func (l *lockFile) merge(images []*hostmode.Image, module string, complete bool) {
	type key struct{ program, backend, prefix string }
	seen := map[key]bool{}
	unsure := map[string]bool{} // programs with an image that failed: its entry can't be told
	l.new = &remote.Lock{}
	for _, i := range images {
		k := key{i.Program, i.Backend, i.Prefix}
		switch {
		case i.Local:
		case i.Status == statusReady || i.Status == statusBuilt:
			seen[k] = true
			l.new.Images = append(l.new.Images, remote.LockedImage{Program: i.Program, Backend: i.Backend, Prefix: i.Prefix, Image: i.Image, Parts: i.Parts})
		default:
			unsure[i.Program] = true
		}
	}
	for _, o := range l.old.Images {
		own := module != "" && (o.Program == module || strings.HasPrefix(o.Program, "main:"+module+"/") || o.Program == "main:"+module)
		switch {
		case seen[key{o.Program, o.Backend, o.Prefix}]:
		case complete && own && !unsure[o.Program]:
		default:
			l.new.Images = append(l.new.Images, o)
		}
	}
}

// changed reports whether there is something to write.
func (l *lockFile) changed() bool {
	if l.before == nil && len(l.new.Images) == 0 {
		return false
	}
	return !bytes.Equal(l.before, l.new.Bytes())
}

// stale reports whether a lock file exists that names other images than it should.
func (l *lockFile) stale() bool {
	return l.before != nil && slices.ContainsFunc(l.new.Images, func(n remote.LockedImage) bool {
		o, ok := l.old.Find(n.Program, n.Backend, n.Prefix)
		return !ok || o.Image != n.Image
	})
}

// inContext is the lock's path in an image's build context, if it is part of one: only a lock that
// has another name than usual.
func (l *lockFile) inContext(images []*hostmode.Image, root string) string {
	abs, err := filepath.Abs(l.name)
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	part := filePart + filepath.ToSlash(rel)
	for _, i := range images {
		if _, ok := value(i.Parts, part); ok {
			return rel
		}
	}
	return ""
}

// write writes the lock so that nobody sees half of it.
func (l *lockFile) write() error {
	tmp, err := os.CreateTemp(filepath.Dir(l.name), ".remote-box-lock-")
	if err != nil {
		return fmt.Errorf("writing the lock: %w", err)
	}
	_, err = tmp.Write(l.new.Bytes())
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), l.name)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("writing the lock: %w", err)
	}
	return nil
}
