//go:build unix && !remotebox_runner

package daytonatest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote/internal/needs"
)

// sdkCache is a directory outside the source tree for what the manifest pins. The tours share it between runs.
func sdkCache(t *testing.T, name, manifest string) string {
	t.Helper()
	data, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		needs.Missing(t, "no cache directory: %v", err)
	}
	dir := filepath.Join(cache, "remote-box-test", fmt.Sprintf("%s-%x", name, sha256.Sum256(data))[:len(name)+13])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		needs.Missing(t, "%v", err)
	}
	return dir
}

// install runs the installation once; a file marks that it was complete.
func install(t *testing.T, dir string, steps ...[]string) {
	t.Helper()
	mark := filepath.Join(dir, ".complete")
	if _, err := os.Stat(mark); err == nil {
		return
	}
	for _, argv := range steps {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			needs.Missing(t, "%s: %v\n%s", strings.Join(argv, " "), err, out)
		}
	}
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			needs.Missing(t, "%v", err)
		}
	}
}

func copyInto(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tour runs a tour against a server and fails t unless it went to its end.
func tour(t *testing.T, cfg Config, dir string, argv ...string) {
	t.Helper()
	cfg.Times.SnapshotBuild = 1200 * time.Millisecond // the SDKs look once a second, and follow the log of a build that they saw
	srv := New(t, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "NO_PROXY=*", "no_proxy=*"), srv.Env()...)
	if srv.Isolated() {
		cmd.Env = append(cmd.Env, "TOUR_ISOLATED=1")
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\ntour complete\n") {
		for _, r := range srv.Requests() {
			t.Logf("%s %s %s %d", r.Plane, r.Method, r.Path, r.Status)
		}
		t.Fatalf("the tour failed: %v\n%s", err, out)
	}
	t.Logf("%s", out)
	for _, sb := range srv.Sandboxes() {
		if sb.State != "destroying" {
			t.Errorf("the tour left sandbox %s in state %s", sb.Name, sb.State)
		}
	}
}

func TestTypeScriptSDK(t *testing.T) {
	t.Parallel()
	need(t, "node", "npm")
	dir := sdkCache(t, "typescript", "testdata/typescript/package.json")
	copyInto(t, dir, "testdata/typescript/package.json", "testdata/typescript/tour.mjs")
	install(t, dir, []string{"npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"})
	for name, cfg := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tour(t, cfg, dir, "node", "tour.mjs")
		})
	}
}

func TestPythonSDK(t *testing.T) {
	t.Parallel()
	need(t, "python3")
	dir := sdkCache(t, "python", "testdata/python/requirements.txt")
	copyInto(t, dir, "testdata/python/requirements.txt", "testdata/python/tour.py")
	python := filepath.Join(dir, "venv", "bin", "python")
	install(t, dir, []string{"python3", "-m", "venv", "venv"}, []string{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"})
	for name, cfg := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tour(t, cfg, dir, python, "tour.py")
		})
	}
}

// modes are the two ways in which sandboxes are kept apart. Where namespaces can't be had they are one.
func modes() map[string]Config {
	return map[string]Config{"default": {}, "directories": {Directories: true}}
}
