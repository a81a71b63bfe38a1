package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRunsWithoutSourcesAndToolchain builds the program here and runs it in an empty directory,
// with neither sources nor Go to be found. cmd/remote-box has the same test with images.
func TestRunsWithoutSourcesAndToolchain(t *testing.T) {
	app := filepath.Join(t.TempDir(), "app")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", app, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), app)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=", "HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir()}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if string(out) != "6 words\n" {
		t.Errorf("it printed %q", out)
	}
}
