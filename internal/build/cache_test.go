package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCacheOfOthers plants a cache that somebody else may have filled.
func TestCacheOfOthers(t *testing.T) {
	if os.Getuid() < 0 {
		t.Skip("directories have no owners here")
	}
	dir := t.TempDir()
	t.Setenv("REMOTE_BOX_CACHE", dir)
	if _, err := openCache(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"", runnersDir, linksDir, programsDir} {
		part := filepath.Join(dir, part)
		if err := os.Chmod(part, 0o777); err != nil {
			t.Fatal(err)
		}
		if _, err := openCache(); err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "REMOTE_BOX_CACHE") {
			t.Errorf("everybody can write to %s: %v", part, err)
		}
		if err := os.Chmod(part, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCacheWithoutHome checks that it is in no place that others could have made.
func TestCacheWithoutHome(t *testing.T) {
	if os.Getuid() < 0 {
		t.Skip("directories have no owners here")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for _, name := range []string{"REMOTE_BOX_CACHE", "HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	c, err := openCache()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(c.dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(filepath.Dir(c.dir)) != tmp {
		t.Errorf("it is in %s", c.dir)
	}
	if _, err := openCache(); err == nil || !strings.Contains(err.Error(), "REMOTE_BOX_CACHE") {
		t.Errorf("%v", err)
	}
}
