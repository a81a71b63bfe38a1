package imagehash

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSelect(t *testing.T) {
	files := []string{"a", "b/c/d", "b/e", "f/", ".env"}
	tree := mustWalk(t, lay(t, files...), Options{})
	before := tree.Digest()
	for name, test := range map[string]struct {
		keep func(Entry) bool
		want []string
	}{
		"nothing":               {func(Entry) bool { return false }, nil},
		"all":                   {func(Entry) bool { return true }, []string{"a", "b/c/d", "b/e", "f/"}},
		"a file and its parent": {func(e Entry) bool { return strings.HasSuffix(e.Path, "/d") }, []string{"b/c/d"}},
		"an empty directory":    {func(e Entry) bool { return e.Path == "f" }, []string{"f/"}},
		"a directory alone":     {func(e Entry) bool { return e.Path == "b" }, []string{"b/"}},
	} {
		t.Run(name, func(t *testing.T) {
			part := tree.Select(test.keep)
			same := mustWalk(t, lay(t, test.want...), Options{})
			if diff := cmp.Diff(paths(same), paths(part)); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
			if part.Digest() != same.Digest() {
				t.Errorf("digest %s, want that of a context with nothing else, %s", part.Digest(), same.Digest())
			}
			if part.Len() != len(paths(part)) || part.Root() != tree.Root() {
				t.Errorf("Len() = %d, Root() = %s", part.Len(), part.Root())
			}
		})
	}
	if tree.Digest() != before || tree.Len() != 6 {
		t.Errorf("selecting changed the tree: %d entries", tree.Len())
	}
}
