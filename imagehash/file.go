package imagehash

import (
	"context"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// fileHasher hashes files one after the other. It is not safe for concurrent use.
type fileHasher struct {
	place
	sys  system
	buf  []byte
	hash hash.Hash
}

// sum hashes a file that was looked at three times: by its path in the walk, here once it is open, and by its path again
// when all is read. A file that is not the same every time is a [*ChangedError].
func (h *fileHasher) sum(ctx context.Context, j job) (Sum, error) {
	rel := j.entry.Path
	if err := ctx.Err(); err != nil {
		return Sum{}, err
	}
	f, err := h.sys.openAgain(h.place, rel)
	if err != nil {
		return Sum{}, err
	}
	defer f.Close()
	opened, err := f.Stat()
	if err != nil {
		return Sum{}, h.failed(rel, err)
	}
	if what := difference(j.seen, opened); what != "" {
		return Sum{}, h.changed(rel, what)
	}
	read, err := h.read(ctx, f)
	if err != nil {
		return Sum{}, h.failed(rel, err)
	}
	again, err := h.sys.lstat(h.abs(rel))
	if gone(err) {
		return Sum{}, h.changed(rel, "removed")
	}
	if err != nil {
		return Sum{}, h.failed(rel, err)
	}
	if what := difference(j.seen, again); what != "" {
		return Sum{}, h.changed(rel, what)
	}
	if read != j.seen.Size() {
		return Sum{}, h.changed(rel, "size")
	}
	return Sum(h.hash.Sum(nil)), nil
}

// read reads all of f into h.hash.
func (h *fileHasher) read(ctx context.Context, f fs.File) (int64, error) {
	h.hash.Reset()
	var total int64
	for {
		n, err := f.Read(h.buf)
		h.hash.Write(h.buf[:n])
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
}

// openAgain opens a file that was there before: if it is not there any more, or not a file, it has changed.
func (s system) openAgain(at place, rel string) (fs.File, error) {
	f, err := s.open(at.abs(rel))
	switch {
	case gone(err):
		return nil, at.changed(rel, "removed")
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENXIO): // now a symlink, now a socket
		return nil, at.changed(rel, "kind")
	case err != nil:
		return nil, at.failed(rel, err)
	}
	return f, nil
}

// gone reports whether err says that nothing has the name any more, or that something above it is no directory any more.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// difference names what two looks at one file do not agree about.
func difference(a, b fs.FileInfo) string {
	switch {
	case a.Mode().Type() != b.Mode().Type():
		return "kind"
	case !os.SameFile(a, b):
		return "replaced"
	case a.Mode() != b.Mode():
		return "mode"
	case a.Size() != b.Size():
		return "size"
	case !a.ModTime().Equal(b.ModTime()):
		return "modification time"
	default:
		return ""
	}
}
