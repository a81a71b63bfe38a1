package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestSweepDue(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if !sweepDue() || sweepDue() {
		t.Error("a sweep is not due once")
	}
}

// TestSweepWritesThroughNoLink plants links where everybody may make files.
func TestSweepWritesThroughNoLink(t *testing.T) {
	tmp, target := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	file := filepath.Join(target, "precious")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"remote-box-docker-swept-%d": file, "remote-box-%d": target} {
		if err := os.Symlink(to, filepath.Join(tmp, fmt.Sprintf(name, os.Getuid()))); err != nil {
			t.Fatal(err)
		}
	}
	if sweepDue() {
		t.Error("it believes a directory that may be somebody else's")
	}
	entries, err := os.ReadDir(target)
	if err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v", entries, err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "content" {
		t.Errorf("the file holds %q, %v", b, err)
	}
}
