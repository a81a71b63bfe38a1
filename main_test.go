package remote_test

import (
	"os"
	"testing"

	"github.com/remote-box/remote/runner"
)

// The test program is its own runner: its functions are declared in test files.
func TestMain(m *testing.M) {
	if os.Getenv(bareVariable) != "" {
		bare()
	}
	runner.Main()
	os.Exit(m.Run())
}
