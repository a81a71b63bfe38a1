//go:build !remotebox_runner

package daytona

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"

	"github.com/remote-box/remote/imagehash"
)

// Daytona's builders take regular files only from the archives that they are sent, and of these
// name, mode and content: directories are left out, symlinks become empty files, and a broken
// archive is used as far as it goes. So that is what they are sent.

// archive is a tar archive that can be written as often as it is needed.
type archive struct {
	write func(context.Context, io.Writer) error
	size  int64
	sum   string // SHA-256 in hex: the archive's name in the storage
}

// measure fills in an archive's size and digest.
func measure(ctx context.Context, write func(context.Context, io.Writer) error) (*archive, error) {
	h := sha256.New()
	n := &counter{w: h}
	if err := write(ctx, n); err != nil {
		return nil, err
	}
	return &archive{write: write, size: n.n, sum: hex.EncodeToString(h.Sum(nil))}, nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// archiveReader reads an archive. It begins to be written with the first read.
type archiveReader struct {
	ctx     context.Context // of the upload
	archive *archive
	pipe    *io.PipeReader
}

// Read implements io.Reader.
func (r *archiveReader) Read(p []byte) (int, error) {
	if r.pipe == nil {
		pr, pw := io.Pipe()
		r.pipe = pr
		go func() { pw.CloseWithError(r.archive.write(r.ctx, pw)) }() // ends when the pipe is closed
	}
	return r.pipe.Read(p)
}

// Close implements io.Closer.
func (r *archiveReader) Close() error {
	if r.pipe == nil {
		return nil
	}
	return r.pipe.Close()
}

func header(name string, size int64, executable bool) *tar.Header {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
	if executable {
		h.Mode = 0o755
	}
	return h
}

// runnerArchive is an archive of the runner alone, so that a change of the program does not send
// the rest of the context again.
func runnerArchive(ctx context.Context, file string) (*archive, error) {
	return measure(ctx, func(ctx context.Context, w io.Writer) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		tw := tar.NewWriter(w)
		if err := tw.WriteHeader(header(runnerEntry, info.Size(), true)); err != nil {
			return err
		}
		if _, err := io.Copy(tw, f); err != nil {
			return err
		}
		return tw.Close()
	})
}

// contextArchive is an archive of a build context, whose files are checked against its digest as
// they are read. nil means that there are none; left says what was left out.
func contextArchive(ctx context.Context, t *imagehash.Tree) (made *archive, left []string, err error) {
	files, left, err := flatten(t)
	if err != nil || len(files) == 0 {
		return nil, left, err
	}
	made, err = measure(ctx, func(ctx context.Context, w io.Writer) error {
		tw := tar.NewWriter(w)
		for _, f := range files {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f.write(t, tw); err != nil {
				return err
			}
		}
		return tw.Close()
	})
	return made, left, err
}

// flatFile is a regular file of an archive.
type flatFile struct {
	name string          // in the archive
	from imagehash.Entry // whose content it has
}

func (f *flatFile) write(t *imagehash.Tree, tw *tar.Writer) error {
	if err := tw.WriteHeader(header(f.name, f.from.Size, f.from.Executable)); err != nil {
		return err
	}
	r, err := t.Open(f.from.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(tw, r)
	return err
}
