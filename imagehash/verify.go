package imagehash

import (
	"crypto/sha256"
	"hash"
	"io"
	"io/fs"
)

// open opens a file for upload, and checks it against its entry while it is read.
func (t *Tree) open(e Entry) (*verifier, error) {
	f, err := t.sys.openAgain(t.place, e.Path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = t.failed(e.Path, err)
	case !info.Mode().IsRegular():
		err = t.changed(e.Path, "kind")
	case info.Size() != e.Size:
		err = t.changed(e.Path, "size")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &verifier{place: t.place, file: f, entry: e, hash: sha256.New()}, nil
}

// verifier reads a file that has to be the one that was hashed.
type verifier struct {
	place
	file  fs.File
	entry Entry
	hash  hash.Hash
	read  int64
	err   error // what every further Read returns
}

func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.file.Read(p)
	v.hash.Write(p[:n])
	v.read += int64(n)
	switch {
	case err != nil && err != io.EOF:
		v.err = v.failed(v.entry.Path, err)
	case v.read > v.entry.Size, err == io.EOF && v.read < v.entry.Size:
		v.err = v.changed(v.entry.Path, "size")
	case v.read == v.entry.Size && Sum(v.hash.Sum(nil)) != v.entry.Sum:
		v.err = v.changed(v.entry.Path, "content")
	default:
		v.err = err
		return n, err
	}
	// The last bytes are kept back: who knows the size does not ask for the end, and might drop an error that comes with all
	// of the bytes.
	return 0, v.err
}

func (v *verifier) Close() error { return v.file.Close() }
