package imagehash

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

// lay makes a directory of the given paths. A path that ends in "/" is a directory, one that ends in "*" an executable
// file; "a -> b" is a symlink. Other files contain their path.
func lay(t testing.TB, paths ...string) string {
	t.Helper()
	root := t.TempDir()
	layIn(t, root, paths...)
	return root
}

func layIn(t testing.TB, root string, paths ...string) {
	t.Helper()
	for _, p := range paths {
		name, target, link := strings.Cut(p, " -> ")
		if !possible(strings.TrimSuffix(name, "*")) || runtime.GOOS == "windows" && strings.HasSuffix(name, "*") {
			t.Skipf("%s has no such file as %q", runtime.GOOS, p)
		}
		full := filepath.Join(root, strings.TrimSuffix(name, "*"))
		check(t, os.MkdirAll(filepath.Dir(full), 0o755))
		switch {
		case link:
			check(t, os.Symlink(target, full))
		case strings.HasSuffix(name, "/"):
			check(t, os.MkdirAll(full, 0o755))
		case strings.HasSuffix(name, "*"):
			check(t, os.WriteFile(full, []byte(name), 0o755))
		default:
			check(t, os.WriteFile(full, []byte(name), 0o644))
		}
	}
}

// possible reports whether the operating system's file systems can have such a name.
func possible(name string) bool {
	switch runtime.GOOS {
	case "linux":
		return true
	case "windows":
		return utf8.ValidString(name) && !strings.ContainsAny(name, `<>:"|?*\`+"\n\t\x01") && strings.TrimRight(name, " .") == name
	default:
		return utf8.ValidString(name)
	}
}

func write(t testing.TB, root, name, content string) {
	t.Helper()
	full := filepath.Join(root, name)
	check(t, os.MkdirAll(filepath.Dir(full), 0o755))
	check(t, os.WriteFile(full, []byte(content), 0o644))
}

func mustWalk(t testing.TB, root string, o Options) *Tree {
	t.Helper()
	tree, err := Walk(t.Context(), root, o)
	check(t, err)
	return tree
}

// paths is the tree as lay takes it, without the ignore file at its root.
func paths(tree *Tree) []string {
	out := []string{}
	for e := range tree.Entries() {
		switch {
		case e.Path == ignoreName:
		case e.Kind == Dir:
			out = append(out, e.Path+"/")
		case e.Kind == Symlink:
			out = append(out, e.Path+" -> "+e.Target)
		case e.Executable:
			out = append(out, e.Path+"*")
		default:
			out = append(out, e.Path)
		}
	}
	return out
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sumOf(s string) Sum { return sha256.Sum256([]byte(s)) }
