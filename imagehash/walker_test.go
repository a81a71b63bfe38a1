package imagehash

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory is listed, and before its entries are looked at somebody changes them.
func TestEntriesThatChangeOnceTheyAreListed(t *testing.T) {
	toFile := func(p string) error { return errors.Join(os.RemoveAll(p), os.WriteFile(p, nil, 0o644)) }
	toDir := func(p string) error { return errors.Join(os.RemoveAll(p), os.Mkdir(p, 0o755)) }
	tests := []struct {
		name, victim string
		do           func(string) error
		what         string // empty if the entry may count as never having been there
	}{
		{"file removed", "file", os.Remove, ""},
		{"symlink removed", "link", os.Remove, ""},
		{"directory removed", "dir", os.RemoveAll, "removed"},
		{"file becomes a directory", "file", toDir, "kind"},
		{"symlink becomes a file", "link", toFile, "kind"},
		{"directory becomes a file", "dir", toFile, "removed"},
		{"excluded directory removed", "gone", os.RemoveAll, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := lay(t, "dir/", "file", "gone/", "link -> file", "other")
			write(t, root, ignoreName, "gone\n!gone/x")
			sys := realSystem()
			sys.readDir = func(name string) ([]fs.DirEntry, error) {
				children, err := os.ReadDir(name)
				if name == root {
					check(t, test.do(filepath.Join(root, test.victim)))
				}
				return children, err
			}
			tree, err := walk(t.Context(), root, Options{}, sys)
			if test.what == "" {
				check(t, err)
				for _, p := range paths(tree) {
					if strings.HasPrefix(p, test.victim) {
						t.Errorf("kept %s", p)
					}
				}
				return
			}
			var changed *ChangedError
			if !errors.As(err, &changed) || changed.Path != test.victim || changed.What != test.what {
				t.Errorf("got %v, want a *ChangedError about %s (%s)", err, test.victim, test.what)
			}
		})
	}
}

func TestRootThatCannotBeListed(t *testing.T) {
	root := lay(t, "a")
	sys := realSystem()
	sys.readDir = func(name string) ([]fs.DirEntry, error) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	_, err := walk(t.Context(), root, Options{}, sys)
	want := "imagehash: build context " + root + ": open: permission denied; make it readable"
	if err == nil || err.Error() != want || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestKindsHaveNames(t *testing.T) {
	for kind, want := range map[Kind]string{Dir: "directory", File: "file", Symlink: "symlink", 0: "Kind(0)"} {
		if kind.String() != want {
			t.Errorf("Kind %d is %q, want %q", uint8(kind), kind, want)
		}
	}
	for mode, want := range map[fs.FileMode]string{
		fs.ModeNamedPipe: "a named pipe", fs.ModeSocket: "a socket", fs.ModeDevice: "a device", fs.ModeDevice | fs.ModeCharDevice: "a device",
		fs.ModeIrregular: "something irregular",
	} {
		if got := special(mode); got != want {
			t.Errorf("special(%v) = %q, want %q", mode, got, want)
		}
	}
}
