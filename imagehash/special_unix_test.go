//go:build unix

package imagehash

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// laySpecial makes a directory with a named pipe and a socket in it.
func laySpecial(t *testing.T) string {
	t.Helper()
	root := lay(t, "a", "run/x")
	check(t, syscall.Mkfifo(filepath.Join(root, "run", "pipe"), 0o644))
	laySocket(t, filepath.Join(root, "run", "sock"))
	return root
}

func laySocket(t *testing.T, name string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", name)
	if err != nil {
		t.Skipf("no unix socket here: %v", err) // the path is too long on some systems
	}
	t.Cleanup(func() { l.Close() })
}

func TestSpecialFilesAreErrors(t *testing.T) {
	root := laySpecial(t)
	_, err := Walk(t.Context(), root, Options{})
	if !errors.Is(err, ErrSpecial) {
		t.Fatalf("got %v, want ErrSpecial", err)
	}
	first, second, ok := strings.Cut(err.Error(), "\n")
	if !ok {
		t.Fatalf("got one error, want two: %v", err)
	}
	for text, words := range map[string][]string{
		first:  {"run/pipe", root, "named pipe", "remove it", "/run/pipe", ignoreName},
		second: {"run/sock", root, "socket", "remove it", "/run/sock", ignoreName},
	} {
		for _, word := range words {
			if !strings.Contains(text, word) {
				t.Errorf("%q does not say %q", text, word)
			}
		}
	}
}

func TestSpecialFilesCanBeExcluded(t *testing.T) {
	for name, ignore := range map[string]string{
		"the advice":     "/run/pipe\n/run/sock",
		"in a directory": "run",
		"not asked for":  "run\n!run/x",
	} {
		t.Run(name, func(t *testing.T) {
			root := laySpecial(t)
			write(t, root, ignoreName, ignore)
			if tree := mustWalk(t, root, Options{}); tree.Len() < 2 {
				t.Errorf("kept only %q", paths(tree))
			}
		})
	}
}

// The line that the error suggests excludes the path that it is about, and nothing else.
func TestAdviceWorks(t *testing.T) {
	for _, name := range []string{"pipe", "sub/pipe", "*", "a?", "[ab]", `a\b`, "#x", "!x", "a b", " x", "x ", "x|*{2}^", "ünï\u00a0"} {
		t.Run(name, func(t *testing.T) {
			root := lay(t, "ab/", "sub/x", "xx", "b")
			check(t, syscall.Mkfifo(filepath.Join(root, name), 0o644))
			_, err := Walk(t.Context(), root, Options{})
			var entryErr *EntryError
			if !errors.As(err, &entryErr) || entryErr.Path != name {
				t.Fatalf("got %v, want an *EntryError about %s", err, name)
			}
			_, rest, _ := strings.Cut(entryErr.Hint, "by the line ")
			line, _, ok := strings.Cut(rest, " in "+ignoreName)
			if !ok {
				t.Fatalf("the hint is %q", entryErr.Hint)
			}
			write(t, root, ignoreName, line+"\n")
			if diff := cmp.Diff([]string{"ab/", "b", "sub/", "sub/x", "xx"}, paths(mustWalk(t, root, Options{}))); diff != "" {
				t.Errorf("with the line %s kept (-want +got):\n%s", line, diff)
			}
		})
	}
}

func TestNoAdviceThatCannotBeFollowed(t *testing.T) {
	for _, name := range []string{"a\nb", "latin1-\xe9"} {
		root := t.TempDir()
		check(t, syscall.Mkfifo(filepath.Join(root, name), 0o644))
		_, err := Walk(t.Context(), root, Options{})
		var entryErr *EntryError
		if !errors.As(err, &entryErr) || entryErr.Path != name || entryErr.Hint != "remove it" {
			t.Errorf("%q: got %v, want an *EntryError that says to remove it", name, err)
		}
	}
}

func TestAdviceNamesTheIgnoreFileInUse(t *testing.T) {
	root := laySpecial(t)
	write(t, root, "ci/D.dockerignore", "x")
	_, err := Walk(t.Context(), root, Options{Dockerfile: "ci/D"})
	if err == nil || !strings.Contains(err.Error(), "in ci/D.dockerignore") {
		t.Errorf("got %v, want advice about ci/D.dockerignore", err)
	}
}

func TestIgnoreFileThatIsAPipe(t *testing.T) {
	root := t.TempDir()
	check(t, syscall.Mkfifo(filepath.Join(root, ignoreName), 0o644))
	_, err := Walk(t.Context(), root, Options{})
	var ignoreErr *IgnoreError
	if !errors.As(err, &ignoreErr) {
		t.Errorf("got %v, want an *IgnoreError", err)
	}
}

func TestUnreadable(t *testing.T) {
	tests := []struct {
		name, ignore string
		dir          bool
		kept         bool
	}{
		{"file", "", false, false},
		{"directory", "", true, false},
		{"excluded file", "locked", false, true},
		{"excluded directory", "locked", true, true},
		{"excluded directory that an exception looks into", "*\n!**/x\n!a", true, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := lay(t, "a")
			if test.dir {
				layIn(t, root, "locked/x")
			} else {
				layIn(t, root, "locked")
			}
			write(t, root, ignoreName, test.ignore)
			locked := filepath.Join(root, "locked")
			check(t, os.Chmod(locked, 0))
			t.Cleanup(func() { os.Chmod(locked, 0o700) })

			var tree *Tree
			var err error
			unprivileged(t, root, func() { tree, err = Walk(t.Context(), root, Options{}) })
			if test.kept {
				check(t, err)
				if diff := cmp.Diff([]string{"a"}, paths(tree)); diff != "" {
					t.Errorf("kept (-want +got):\n%s", diff)
				}
				return
			}
			var entryErr *EntryError
			if !errors.As(err, &entryErr) || entryErr.Path != "locked" || !errors.Is(err, fs.ErrPermission) {
				t.Fatalf("got %v, want an *EntryError about locked", err)
			}
			if !strings.Contains(err.Error(), "make it readable") {
				t.Errorf("%v does not say what to do", err)
			}
		})
	}
}
