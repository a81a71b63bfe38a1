package imagehash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The digest of a fixed tree. If this test fails, the scheme has changed: every image of every user is built again, and
// digestPrefix has to change too.
func TestDigestIsPinned(t *testing.T) {
	root := lay(t, "a", "bin/run*", "empty/", "link -> a", "sub/deep/x")
	const want = "c1:a47c2b768404ee5cf4bf160aaadf5eb833e0ce2c1da39ceb691b7be38df15d7b"
	if got := mustWalk(t, root, Options{}).Digest().String(); got != want {
		t.Errorf("Digest() = %s, want %s", got, want)
	}
}

func TestDigestDependsOnEverythingThatAnImageCouldContain(t *testing.T) {
	files := []string{"a", "bin/run*", "empty/", "link -> a"}
	base := mustWalk(t, lay(t, files...), Options{}).Digest()
	seen := map[Digest]string{base: "base"}
	for _, test := range []struct {
		name   string
		change func(root string) error
	}{
		{"content", func(root string) error { return os.WriteFile(filepath.Join(root, "a"), []byte("b"), 0o644) }},
		{"new file", func(root string) error { return os.WriteFile(filepath.Join(root, "b"), nil, 0o644) }},
		{"new directory", func(root string) error { return os.Mkdir(filepath.Join(root, "b"), 0o755) }},
		{"removed directory", func(root string) error { return os.Remove(filepath.Join(root, "empty")) }},
		{"renamed", func(root string) error { return os.Rename(filepath.Join(root, "a"), filepath.Join(root, "a2")) }},
		{"executable", func(root string) error { return os.Chmod(filepath.Join(root, "a"), 0o744) }},
		{"not executable", func(root string) error { return os.Chmod(filepath.Join(root, "bin/run"), 0o655) }},
		{"target", func(root string) error {
			return replace(root, "link", func(p string) error { return os.Symlink("a/", p) })
		}},
		{"symlink to file", func(root string) error {
			return replace(root, "link", func(p string) error { return os.WriteFile(p, []byte("a"), 0o644) })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := lay(t, files...)
			check(t, test.change(root))
			got := mustWalk(t, root, Options{}).Digest()
			if before, ok := seen[got]; ok {
				t.Errorf("the digest is that of %q", before)
			}
			seen[got] = test.name
		})
	}
}

func replace(root, name string, by func(string) error) error {
	p := filepath.Join(root, name)
	if err := os.Remove(p); err != nil {
		return err
	}
	return by(p)
}

func TestDigestDependsOnNothingElse(t *testing.T) {
	files := []string{"a", "bin/run*", "empty/", "link -> a", "x/y/z"}
	want := mustWalk(t, lay(t, files...), Options{})

	root := filepath.Join(t.TempDir(), "another place")
	check(t, os.Mkdir(root, 0o700))
	for i := range files { // made in another order
		layIn(t, root, files[len(files)-1-i])
	}
	check(t, os.Chmod(filepath.Join(root, "a"), 0o600))
	check(t, os.Chmod(filepath.Join(root, "bin/run"), 0o711))
	check(t, os.Chmod(filepath.Join(root, "empty"), 0o700))
	check(t, os.Chtimes(filepath.Join(root, "a"), time.Unix(1, 0), time.Unix(1, 0)))
	alias := filepath.Join(t.TempDir(), "alias")
	check(t, os.Symlink(root, alias))

	for _, o := range []Options{{}, {Workers: 1}, {Workers: 32}, {Dockerfile: "sub/None"}, {Exclude: []string{"no/such"}}} {
		got := mustWalk(t, alias, o)
		if got.Digest() != want.Digest() {
			t.Errorf("%+v: digest %s, want %s; %v", o, got.Digest(), want.Digest(), Diff(want.Summary(), got.Summary()))
		}
		if resolved, err := filepath.EvalSymlinks(root); err != nil || got.Root() != resolved {
			t.Errorf("Root() = %s, want %s (%v)", got.Root(), resolved, err)
		}
	}
}

func TestParseDigest(t *testing.T) {
	d := mustWalk(t, lay(t, "a"), Options{}).Digest()
	text, err := json.Marshal(d)
	check(t, err)
	var back Digest
	check(t, json.Unmarshal(text, &back))
	if back != d {
		t.Errorf("%s came back as %s", d, back)
	}
	digits := strings.TrimPrefix(d.String(), digestPrefix)
	for _, bad := range []string{
		"", digestPrefix, digits, "c2:" + digits, digestPrefix + digits[1:], digestPrefix + digits + "0", " " + d.String(), d.String() + "\n",
		digestPrefix + strings.Repeat("g", 64), digestPrefix + strings.Repeat("A", 64), "C1:" + digits,
	} {
		if got, err := ParseDigest(bad); err == nil || got != (Digest{}) {
			t.Errorf("ParseDigest(%q) = %v, %v; want an error", bad, got, err)
		}
	}
}
