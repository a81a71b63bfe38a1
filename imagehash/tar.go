package imagehash

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"time"
)

// WriteTar writes the tree's entries to w as an uncompressed tar archive whose bytes depend on nothing but the digest:
// sorted, owned by root, dated 1970, with the modes of [Entry.Mode]. Symlinks stay symlinks, and the root has no entry.
//
// Every file is hashed again on its way, and must be the one that the digest counts. On any error, a [*ChangedError] among
// them, w has received an archive without an end, which must be thrown away.
func (t *Tree) WriteTar(ctx context.Context, w io.Writer) error {
	tw := tar.NewWriter(w)
	buf := make([]byte, readSize)
	for _, e := range t.entries {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("imagehash: tar of %s: %w", printable(t.root), err)
		}
		if err := tw.WriteHeader(tarHeader(e)); err != nil {
			return fmt.Errorf("imagehash: tar of %s: %s: %w", printable(t.root), printable(e.Path), err)
		}
		if e.Kind != File {
			continue
		}
		if err := t.copyFile(ctx, tw, e, buf); err != nil {
			return err
		}
	}
	if err := tw.Close(); err != nil {
		return fmt.Errorf("imagehash: tar of %s: %w", printable(t.root), err)
	}
	return nil
}

func (t *Tree) copyFile(ctx context.Context, w io.Writer, e Entry, buf []byte) error {
	f, err := t.open(e)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(w, contextReader{ctx, f}, buf)
	switch {
	case err == nil:
		return nil
	case f.err != nil && f.err != io.EOF:
		return f.err // says more than the writer's, which may just have been given too much
	}
	return fmt.Errorf("imagehash: tar of %s: %s: %w", printable(t.root), printable(e.Path), err)
}

func tarHeader(e Entry) *tar.Header {
	h := &tar.Header{Name: e.Path, Mode: int64(e.Mode().Perm()), ModTime: time.Unix(0, 0)}
	switch e.Kind {
	case Dir:
		h.Typeflag = tar.TypeDir
		h.Name += "/"
	case Symlink:
		h.Typeflag = tar.TypeSymlink
		h.Linkname = e.Target
	default:
		h.Typeflag = tar.TypeReg
		h.Size = e.Size
	}
	return h
}

// contextReader stops between two reads when its context ends. It lives for one call and no longer than that.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
