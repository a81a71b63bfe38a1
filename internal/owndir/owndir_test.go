//go:build unix

package owndir

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/remote-box/remote/internal/needs"
)

// TestTemp plants what somebody else could have made first.
func TestTemp(t *testing.T) {
	for _, c := range []struct {
		what  string
		plant func(t *testing.T, dir string)
		ok    bool
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"our own", func(t *testing.T, dir string) { mkdir(t, dir, 0o700) }, true},
		{"one that others can read", func(t *testing.T, dir string) { mkdir(t, dir, 0o755) }, false},
		{"a link", func(t *testing.T, dir string) { link(t, t.TempDir(), dir) }, false},
		{"a file", func(t *testing.T, dir string) { write(t, dir) }, false},
		{"somebody else's", func(t *testing.T, dir string) { mkdir(t, dir, 0o700); giveAway(t, dir) }, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			want := filepath.Join(tmp, "remote-box-"+strconv.Itoa(os.Getuid()))
			c.plant(t, want)
			got, err := Temp()
			if c.ok && (err != nil || got != want) || !c.ok && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "TMPDIR")) {
				t.Errorf("it is %q, %v", got, err)
			}
		})
	}
}

func TestMake(t *testing.T) {
	for _, c := range []struct {
		what  string
		plant func(t *testing.T, dir string)
		ok    bool
	}{
		{"nothing", func(*testing.T, string) {}, true},
		{"one that others can read", func(t *testing.T, dir string) { mkdir(t, dir, 0o755) }, true},
		{"one that others can write to", func(t *testing.T, dir string) { mkdir(t, dir, 0o757) }, false},
		{"one that a group can write to", func(t *testing.T, dir string) { mkdir(t, dir, 0o770) }, false},
		{"our link", func(t *testing.T, dir string) { link(t, t.TempDir(), dir) }, true},
		{"somebody else's link", func(t *testing.T, dir string) { link(t, t.TempDir(), dir); giveAway(t, dir) }, false},
		{"somebody else's", func(t *testing.T, dir string) { mkdir(t, dir, 0o755); giveAway(t, dir) }, false},
		{"a file", func(t *testing.T, dir string) { write(t, dir) }, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			c.plant(t, dir)
			if err := Make(dir); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), dir) {
				t.Errorf("%v", err)
			}
		})
	}
}

func mkdir(t *testing.T, dir string, mode os.FileMode) {
	t.Helper()
	if err := os.Mkdir(dir, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, name string) {
	t.Helper()
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// giveAway makes a file another user's, which only root can do.
func giveAway(t *testing.T, name string) {
	t.Helper()
	if os.Getuid() != 0 {
		needs.Missing(t, "only root can make another user's files")
	}
	if err := os.Lchown(name, 65534, 65534); err != nil {
		t.Fatal(err)
	}
}
