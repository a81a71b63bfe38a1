//go:build linux && !remotebox_runner

package e2b_test

import (
	"bytes"
	"os"
	"os/exec"
	"testing"

	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// TestExample runs examples/e2b, a program like a user's, as a process of its own.
func TestExample(t *testing.T) {
	srv := e2btest.New(t, e2btest.Config{})
	cmd := exec.CommandContext(t.Context(), "go", "run", "github.com/remote-box/remote/examples/e2b")
	cmd.Env = append(os.Environ(), "E2B_API_KEY="+srv.Key, "E2B_API_URL="+srv.APIURL(), "E2B_SANDBOX_URL="+srv.SandboxURL())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || string(out) != "0 \n0 42\n3 this goes wrong\n" {
		t.Errorf("%v, %s\n%s", err, out, &stderr)
	}
	if len(srv.Requests()) < 5 {
		t.Errorf("the server saw %d requests", len(srv.Requests()))
	}
	none(t, srv)
}
