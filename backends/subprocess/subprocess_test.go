package subprocess_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/remote-box/remote/backends/backendtest"
	"github.com/remote-box/remote/backends/subprocess"
)

func TestConformance(t *testing.T) {
	t.Setenv("E2B_API_KEY", "a-key-that-stays-here")
	backendtest.Run(t, func(testing.TB) backendtest.Config {
		env := map[string]string{"SOME_VARIABLE": "some value\nin two lines"}
		return backendtest.Config{
			Backend: subprocess.Backend{Env: env, InheritEnv: true},
			Env:     env,
			Hidden:  []string{"a-key-that-stays-here"},
			Remove:  remove,
		}
	})
}

// remove destroys a sandbox as somebody else might.
func remove(_ context.Context, id string) error {
	return os.RemoveAll(filepath.Join(os.TempDir(), "remote-box-"+strconv.Itoa(os.Getuid()), id))
}

// TestMany makes a thousand calls over a hundred sessions at once. Temporary files have a
// directory of their own, so that nobody else's are counted.
func TestMany(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	backendtest.RunMany(t, func(testing.TB) backendtest.Config {
		return backendtest.Config{Backend: subprocess.Backend{}}
	}, 100, 1000)
	base := filepath.Join(os.TempDir(), "remote-box-"+strconv.Itoa(os.Getuid()))
	left, err := filepath.Glob(filepath.Join(base, "p*"))
	if err != nil || len(left) > 0 {
		t.Errorf("directories of sandboxes are left: %v, %v", left, err)
	}
}
