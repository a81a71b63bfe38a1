package imagehash

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is left out is not read, unless something below it might be kept.
func TestPruning(t *testing.T) {
	tests := []struct {
		name, ignore string
		files        []string
		read         []string // the directories that the walk lists
	}{
		{"excluded", "a", []string{"a/b/c", "d/e"}, []string{".", "d"}},
		{"always excluded", "!node_modules/x\n!**", []string{"node_modules/x/y", "d/.git/x"}, []string{".", "d"}},
		{"secret", "", []string{"d/.ssh/x/y", ".env/x"}, []string{".", "d"}},
		{"secret, and exceptions that do not ask", "!**/.*\n!**", []string{".ssh/x/y"}, []string{"."}},
		{"secret, and exceptions for something else", "!.ssh2/x", []string{".ssh/x/y"}, []string{"."}},
		{"secret that is asked for below", "!.ssh/x/config", []string{".ssh/x/config", ".ssh/y/z"}, []string{".", ".ssh", ".ssh/x"}},
		{"exception elsewhere", "a\nb\n!b/x", []string{"a/x/y", "b/x/y", "b/z/y"}, []string{".", "b", "b/x"}},
		{"exception for a name that begins alike", "a\n!ab/x", []string{"a/x/y", "ab/x"}, []string{".", "ab"}},
		{"exception with a star", "*\n!a/*/c", []string{"a/b/c/d", "a/b/x/y", "b/c"}, []string{".", "a", "a/b", "a/b/c"}},
		{"exception with a question mark", "*\n!a?/c", []string{"ab/c", "abc/c", "a/c"}, []string{".", "ab"}},
		{"exception at any depth", "a\n!**/x", []string{"a/b/c/y"}, []string{".", "a", "a/b", "a/b/c"}},
		{"exception at any depth below", "*\n!a/**/x", []string{"a/b/c/y", "b/c"}, []string{".", "a", "a/b", "a/b/c"}},
		{"exception that ends above", "a/b\n!a", []string{"a/b/c", "a/d/e"}, []string{".", "a", "a/d"}},
		{"exception that is a class", "*\n!a/[bc]/x", []string{"a/b/x", "a/d/e/f", "b/x"}, []string{".", "a", "a/b", "a/d", "a/d/e"}},
		{"exception that is not anchored", "*\n!b|a/*", []string{"x/y/z"}, []string{".", "x", "x/y"}},
		{"exception before the rule", "!a/b\na", []string{"a/b/c"}, []string{".", "a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := lay(t, test.files...)
			write(t, root, ignoreName, test.ignore)
			sys := realSystem()
			var read []string
			sys.readDir = func(name string) ([]fs.DirEntry, error) {
				rel, err := filepath.Rel(root, name)
				check(t, err)
				read = append(read, filepath.ToSlash(rel))
				return realSystem().readDir(name)
			}
			_, err := walk(t.Context(), root, Options{}, sys)
			check(t, err)
			slices.Sort(read)
			if diff := cmp.Diff(test.read, read); diff != "" {
				t.Errorf("directories read (-want +got):\n%s", diff)
			}
		})
	}
}

// Nothing that is left out is opened or looked at either.
func TestWhatIsLeftOutIsNotTouched(t *testing.T) {
	root := lay(t, "a", "skip.log", "dir/skip.log", ".env", lockName)
	write(t, root, ignoreName, "**/*.log\n!*/keep")
	sys := realSystem()
	opened := make(chan string, 10)
	sys.open = func(name string) (fs.File, error) {
		opened <- filepath.Base(name)
		return realSystem().open(name)
	}
	_, err := walk(t.Context(), root, Options{}, sys)
	check(t, err)
	close(opened)
	got := slices.Sorted(func(yield func(string) bool) {
		for name := range opened {
			if !yield(name) {
				return
			}
		}
	})
	if diff := cmp.Diff([]string{ignoreName, "a"}, got); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
}
