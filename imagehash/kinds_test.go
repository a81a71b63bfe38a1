package imagehash

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEntries(t *testing.T) {
	root := lay(t, "a", "bin/run*", "empty/", "link -> a")
	got := map[string]Entry{}
	for e := range mustWalk(t, root, Options{}).Entries() {
		got[e.Path] = e
	}
	want := map[string]Entry{
		"a":       {Path: "a", Kind: File, Size: 1, Sum: sumOf("a")},
		"bin":     {Path: "bin", Kind: Dir},
		"bin/run": {Path: "bin/run", Kind: File, Executable: true, Size: 8, Sum: sumOf("bin/run*")},
		"empty":   {Path: "empty", Kind: Dir},
		"link":    {Path: "link", Kind: Symlink, Target: "a", Sum: sumOf("a")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	for name, mode := range map[string]fs.FileMode{
		"a": 0o644, "bin": fs.ModeDir | 0o755, "bin/run": 0o755, "link": fs.ModeSymlink | 0o777,
	} {
		if got[name].Mode() != mode {
			t.Errorf("mode of %s = %v, want %v", name, got[name].Mode(), mode)
		}
	}
}

func TestSymlinksAreKeptAndNeverFollowed(t *testing.T) {
	outside := lay(t, "secret/file")
	links := []string{
		"chain -> in", "dangling -> no/where", "dir -> d", "in -> d/x", "loop -> loop", "out -> " + outside, "outfile -> " + outside + "/secret/file",
		"parent -> ..", "root -> /", "self -> .",
	}
	root := lay(t, append([]string{"d/x"}, links...)...)
	want := append([]string{"chain -> in", "d/", "d/x"}, links[1:]...)
	if diff := cmp.Diff(want, paths(mustWalk(t, root, Options{}))); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}

	before := mustWalk(t, root, Options{}).Digest()
	write(t, outside, "secret/file", "changed")
	write(t, outside, "secret/more", "new")
	if after := mustWalk(t, root, Options{}).Digest(); after != before {
		t.Errorf("what is outside changed the digest from %s to %s", before, after)
	}
}

func TestOddNames(t *testing.T) {
	root := lay(t, oddNames()...)
	tree := mustWalk(t, root, Options{})
	want := map[string]bool{}
	for _, name := range oddNames() {
		for p := filepath.Clean(name); p != "."; p = filepath.Dir(p) {
			want[p] = true
		}
	}
	last := ""
	for e := range tree.Entries() {
		if !want[e.Path] {
			t.Errorf("unexpected %q", e.Path)
		}
		if e.Path <= last {
			t.Errorf("%q comes after %q", e.Path, last)
		}
		last = e.Path
		delete(want, e.Path)
	}
	for p := range want {
		t.Errorf("missing %q", p)
	}
}

// Names that another record, or several, could be made of.
func TestRecordsCannotBeForged(t *testing.T) {
	sum := sumOf("").String()
	seen := map[Digest]string{}
	for _, files := range [][]string{
		{"a", "b"},
		{"a\nf " + sum + " b"},
		{"a f " + sum + " b"},
		{"a -> b"},
		{"a/", "b"},
		{"a/b"},
		{"a*", "b"},
	} {
		root := t.TempDir()
		for _, f := range files {
			layIn(t, root, f)
		}
		for e := range mustWalk(t, root, Options{}).Entries() {
			if e.Kind == File {
				check(t, os.Truncate(filepath.Join(root, e.Path), 0))
			}
		}
		d := mustWalk(t, root, Options{}).Digest()
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %s have one digest", files, other)
		}
		seen[d] = files[0]
	}
}

func TestDeepTree(t *testing.T) {
	root := t.TempDir()
	rel := ""
	for range 60 {
		rel = filepath.Join(rel, "directory-with-a-rather-long-name")
	}
	write(t, root, rel+"/x", "x")
	if got := mustWalk(t, root, Options{}).Len(); got != 61 {
		t.Errorf("Len() = %d, want 61", got)
	}
}
