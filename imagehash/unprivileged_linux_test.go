package imagehash

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/remote-box/remote/internal/needs"
)

// unprivileged runs f as a user for whom modes count. The superuser becomes nobody meanwhile, on all threads, so that a test
// which calls it must not be parallel.
func unprivileged(t *testing.T, root string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	for _, dir := range []string{root, filepath.Dir(root)} {
		check(t, os.Chmod(dir, 0o755))
	}
	if err := syscall.Setresuid(-1, nobody, -1); err != nil {
		needs.Missing(t, "root without the right to be somebody else: %v", err)
	}
	defer func() {
		if err := syscall.Setresuid(-1, 0, -1); err != nil {
			panic(err) // what follows would fail for no visible reason
		}
	}()
	f()
}
