// Package needs is for tests of what a machine may lack.
package needs

import (
	"os"
	"runtime"
	"testing"
)

// Missing ends a test that needs something which is not here: it is skipped on somebody's machine,
// and fails in CI on Linux, where everything that tests need is installed.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" && runtime.GOOS == "linux" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
