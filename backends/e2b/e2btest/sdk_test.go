//go:build linux && !remotebox_runner

package e2btest_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/internal/needs"
)

// sdk is an official SDK and its tour.
type sdk struct {
	dir     string   // below testdata
	pins    []string // files that name the versions
	needs   []string // programs
	install func(ctx context.Context, dir string) *exec.Cmd
	tour    func(ctx context.Context, dir, tour string) *exec.Cmd
	script  string
	steps   int // that the tour must report
}

// installed returns the directory of the SDK, in the user's cache, and installs
// it there the first time.
func (s sdk) installed(ctx context.Context, t *testing.T) string {
	t.Helper()
	for _, program := range s.needs {
		if _, err := exec.LookPath(program); err != nil {
			needs.Missing(t, "%v", err)
		}
	}
	digest := sha256.New()
	for _, name := range s.pins {
		data, err := os.ReadFile(filepath.Join("testdata", s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		digest.Write(data)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		needs.Missing(t, "no cache directory: %v", err)
	}
	parent := filepath.Join(cache, "remote-box-test", "e2b-sdk")
	dir := filepath.Join(parent, s.dir+"-"+hex.EncodeToString(digest.Sum(nil))[:16])
	if _, err := os.Stat(filepath.Join(dir, "installed")); err == nil {
		return dir
	}
	// Two test runs may install at once, and a virtual environment can't be moved:
	// the mark comes last, and installing again over it does no harm.
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range s.pins {
		data, err := os.ReadFile(filepath.Join("testdata", s.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.install(ctx, dir).CombinedOutput(); err != nil {
		needs.Missing(t, "installing the SDK: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "installed"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func javaScript() sdk {
	return sdk{
		dir: "js", pins: []string{"package.json", "package-lock.json"}, needs: []string{"node", "npm"}, script: "tour.mjs", steps: 15,
		install: func(ctx context.Context, dir string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
			cmd.Dir = dir
			return cmd
		},
		tour: func(ctx context.Context, dir, tour string) *exec.Cmd {
			return exec.CommandContext(ctx, "node", tour)
		},
	}
}

func python() sdk {
	return sdk{
		dir: "python", pins: []string{"requirements.txt"}, needs: []string{"python3"}, script: "tour.py", steps: 14,
		install: func(ctx context.Context, dir string) *exec.Cmd {
			cmd := exec.CommandContext(ctx, "sh", "-ec", "python3 -m venv venv && venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt")
			cmd.Dir = dir
			return cmd
		},
		tour: func(ctx context.Context, dir, tour string) *exec.Cmd {
			return exec.CommandContext(ctx, filepath.Join(dir, "venv/bin/python"), tour)
		},
	}
}

// take runs the tour against a new server.
func (s sdk) take(t *testing.T, cfg e2btest.Config) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir := s.installed(ctx, t)
	script, err := os.ReadFile(filepath.Join("testdata", s.dir, s.script))
	if err != nil {
		t.Fatal(err)
	}
	// Node looks for packages beside the script.
	tour := filepath.Join(dir, rand.Text()+"-"+s.script)
	if err := os.WriteFile(tour, script, 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(tour)
	build, err := filepath.Abs("testdata/context")
	if err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}

	srv := e2btest.New(t, cfg)
	confined := "0"
	if srv.Isolation() == "namespaces" {
		confined = "1"
	}
	cmd := s.tour(ctx, dir, tour)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CONFINED=" + confined, "WHOAMI=" + me.Username, "CONTEXT=" + build,
		"E2B_API_KEY=" + srv.Key, "E2B_API_URL=" + srv.APIURL(), "E2B_SANDBOX_URL=" + srv.SandboxURL(),
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	t.Logf("isolation: %s\n%s", srv.Isolation(), out.Bytes())
	if done := regexp.MustCompile(`(?m)^ok `).FindAllIndex(out.Bytes(), -1); len(done) != s.steps {
		t.Errorf("%d steps done, want %d", len(done), s.steps)
	}
	if boxes := srv.Sandboxes(); len(boxes) != 0 {
		t.Errorf("the tour left sandboxes: %v", boxes)
	}
}

func TestJavaScriptSDK(t *testing.T) {
	t.Run("isolated", func(t *testing.T) { javaScript().take(t, e2btest.Config{}) })
	t.Run("unconfined", func(t *testing.T) { javaScript().take(t, e2btest.Config{Unconfined: true}) })
}

func TestPythonSDK(t *testing.T) {
	t.Run("isolated", func(t *testing.T) { python().take(t, e2btest.Config{}) })
	t.Run("unconfined", func(t *testing.T) { python().take(t, e2btest.Config{Unconfined: true}) })
}

// A lock that names where packages were downloaded from would tie everyone to
// that place.
func TestPinsNameNoHosts(t *testing.T) {
	for _, name := range []string{"js/package.json", "js/package-lock.json", "python/requirements.txt"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte("://")) {
			t.Errorf("%s names a host", name)
		}
	}
}
