package imagehash

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAlwaysExcluded(t *testing.T) {
	want := []string{
		".DS_Store", ".git", ".hg", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "node_modules",
		lockName, "venv",
	}
	if diff := cmp.Diff(want, AlwaysExcluded()); diff != "" {
		t.Fatalf("AlwaysExcluded() (-want +got):\n%s", diff)
	}
	for _, name := range want {
		t.Run(name, func(t *testing.T) {
			leaf := name + "/x"
			if name == ".DS_Store" || name == lockName {
				leaf = name
			}
			root := lay(t, leaf, "sub/deep/"+leaf, "other/l/", "other/"+name+" -> l", "x"+name, name+"x/a", "README")
			// Asking in every way that there is.
			write(t, root, ignoreName, "!"+name+"\n!**/"+name+"\n!**/"+name+"/**\n!sub\n*.none")
			want := []string{"README", name + "x/", name + "x/a", "other/", "other/l/", "sub/", "sub/deep/", "x" + name}
			slices.Sort(want)
			if diff := cmp.Diff(want, paths(mustWalk(t, root, Options{}))); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAlwaysExcludedDependsOnTheKind(t *testing.T) {
	// A worktree's .git is a file. A script may be called venv, a directory .DS_Store.
	root := lay(t, ".git", "sub/.git", "venv", "bin/node_modules*", ".DS_Store/x", lockName+"/x")
	want := []string{".DS_Store/", ".DS_Store/x", "bin/", "bin/node_modules*", lockName + "/", lockName + "/x", "sub/", "venv"}
	if diff := cmp.Diff(want, paths(mustWalk(t, root, Options{}))); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestExclude(t *testing.T) {
	root := lay(t, "ci/lock.json", "out/a/b", "lock.json", "out2")
	write(t, root, ignoreName, "!ci/lock.json\n!out/a/b\n")
	for _, exclude := range [][]string{{"ci/lock.json", "out"}, {"./ci//lock.json", "/out/"}} {
		want := []string{"ci/", "lock.json", "out2"}
		if diff := cmp.Diff(want, paths(mustWalk(t, root, Options{Exclude: exclude}))); diff != "" {
			t.Errorf("with %q kept (-want +got):\n%s", exclude, diff)
		}
	}
	for _, exclude := range [][]string{nil, {"."}, {""}, {"no"}} {
		want := []string{"ci/", "ci/lock.json", "lock.json", "out/", "out/a/", "out/a/b", "out2"}
		if diff := cmp.Diff(want, paths(mustWalk(t, root, Options{Exclude: exclude}))); diff != "" {
			t.Errorf("with %q kept (-want +got):\n%s", exclude, diff)
		}
	}
}

func TestListsAreCopies(t *testing.T) {
	for _, list := range []func() []string{AlwaysExcluded, SecretPatterns} {
		want := list()
		clear(list())
		if diff := cmp.Diff(want, list()); diff != "" {
			t.Errorf("a caller changed the list (-want +got):\n%s", diff)
		}
	}
}

func TestRootErrors(t *testing.T) {
	file := filepath.Join(lay(t, "a"), "a")
	dangling := filepath.Join(t.TempDir(), "l")
	check(t, os.Symlink("nowhere", dangling))
	for _, root := range []string{"", file, file + "/x", dangling, filepath.Join(t.TempDir(), "none")} {
		tree, err := Walk(t.Context(), root, Options{})
		entryErr, ok := err.(*EntryError)
		if tree != nil || !ok || entryErr.Path != "." || entryErr.Root != root {
			t.Errorf("Walk(%q) = %v, %v; want an *EntryError about it", root, tree, err)
		}
	}
}
