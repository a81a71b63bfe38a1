package imagehash

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWriteTar(t *testing.T) {
	long := strings.Repeat("long-", 30) + "name"
	root := lay(t, "a", "bin/run*", "empty/", "link -> ../out", "latin1-\xe9", "skip/x", "sub/"+long, "to -> "+long+"/"+long)
	write(t, root, ignoreName, "skip\n.dockerignore")
	tree := mustWalk(t, root, Options{})
	var archive bytes.Buffer
	check(t, tree.WriteTar(t.Context(), &archive))

	var got []tar.Header
	contents := map[string]string{}
	for r := tar.NewReader(&archive); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		if !h.ModTime.Equal(time.Unix(0, 0)) {
			t.Errorf("%s is dated %v", h.Name, h.ModTime)
		}
		content, err := io.ReadAll(r)
		check(t, err)
		contents[h.Name] = string(content)
		got = append(got, tar.Header{Typeflag: h.Typeflag, Name: h.Name, Linkname: h.Linkname, Size: h.Size, Mode: h.Mode, Uid: h.Uid, Gid: h.Gid, Uname: h.Uname, Gname: h.Gname})
	}
	file := func(name string, size int64) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644}
	}
	dir := func(name string) tar.Header {
		return tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}
	}
	link := func(name, target string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777}
	}
	want := []tar.Header{
		file("a", 1),
		dir("bin/"),
		{Typeflag: tar.TypeReg, Name: "bin/run", Size: 8, Mode: 0o755},
		dir("empty/"),
		file("latin1-\xe9", 8),
		link("link", "../out"),
		dir("sub/"),
		file("sub/"+long, 158),
		link("to", long+"/"+long),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if contents["bin/run"] != "bin/run*" || contents["sub/"+long] != "sub/"+long {
		t.Errorf("contents are %q", contents)
	}
}

func TestWriteTarDependsOnTheDigestOnly(t *testing.T) {
	files := []string{"a", "bin/run*", "empty/", "link -> a", "sub/deep/x"}
	var first bytes.Buffer
	check(t, mustWalk(t, lay(t, files...), Options{}).WriteTar(t.Context(), &first))
	tree := mustWalk(t, lay(t, files...), Options{Workers: 1})
	for range 2 { // a tree can be written again
		var second bytes.Buffer
		check(t, tree.WriteTar(t.Context(), &second))
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Error("two archives of the same content are different")
		}
	}
}

func TestWriteTarErrors(t *testing.T) {
	tree := mustWalk(t, lay(t, "a", "b/c"), Options{})

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := tree.WriteTar(ctx, &out); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: got %v, want context.Canceled", err)
	}

	full := errors.New("disk full")
	for after := range 4 {
		err := tree.WriteTar(t.Context(), &failingWriter{after: after, err: full})
		if !errors.Is(err, full) {
			t.Errorf("with a writer that fails at write %d: got %v, want its error", after, err)
		}
	}
}

type failingWriter struct {
	after int
	err   error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.after == 0 {
		return 0, w.err
	}
	w.after--
	return len(p), nil
}

// Whoever takes the beginning of an archive for all of it would build an image from half a context.
func TestWriteTarThatFailsHasNoEnd(t *testing.T) {
	root := lay(t, "a", "b")
	tree := mustWalk(t, root, Options{})
	write(t, root, "b", "B")
	var archive bytes.Buffer
	if err := tree.WriteTar(t.Context(), &archive); err == nil {
		t.Fatal("got no error")
	}
	var err error
	for r := tar.NewReader(&archive); err == nil; {
		if _, err = r.Next(); err == nil {
			_, err = io.Copy(io.Discard, r)
		}
	}
	if err == io.EOF {
		t.Error("the archive reads as a complete one")
	}
}

func TestOpen(t *testing.T) {
	tree := mustWalk(t, lay(t, "d/a", "empty", "l -> d/a"), Options{})
	r, err := tree.Open("d/a")
	check(t, err)
	content, err := io.ReadAll(r)
	if err != nil || string(content) != "d/a" {
		t.Errorf("read %q, %v", content, err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read after the end: %d, %v", n, err)
	}
	check(t, r.Close())

	for name, want := range map[string]error{"d": fs.ErrInvalid, "l": fs.ErrInvalid, "no": fs.ErrNotExist, "../x": fs.ErrNotExist, "": fs.ErrNotExist, "d/../d/a": fs.ErrNotExist} {
		if r, err := tree.Open(name); r != nil || !errors.Is(err, want) {
			t.Errorf("Open(%q) = %v, %v; want %v", name, r, err, want)
		}
	}
}
