//go:build !windows

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remote-box/remote/internal/cli"
)

// TestInterrupt ends the command while the user's packages initialise, which they never finish.
func TestInterrupt(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod, sum, err := userModule(repo, "example.com/hangs")
	if err != nil {
		t.Fatal(err)
	}
	begun := filepath.Join(dir, "begun")
	for name, content := range map[string]string{
		"go.mod": mod, "go.sum": sum,
		"hangs.go": "package hangs\n\nimport (\n\t\"os\"\n\n\t_ \"github.com/remote-box/remote\"\n)\n\n" +
			"func init() {\n\tgo func() { select {} }()\n\tf, _ := os.OpenFile(os.Getenv(\"BEGUN\"), os.O_WRONLY, 0)\n\tf.Close()\n\tselect {}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BEGUN", begun)
	t.Setenv("REMOTE_BOX_CACHE", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		f, err := os.Open(begun) // until the package opens it, too
		if err != nil {
			return
		}
		f.Close()
		cancel()
	}()
	var stdout, stderr bytes.Buffer
	ended := make(chan int)
	go func() {
		ended <- cli.Run(ctx, []string{"build", "--root", dir}, strings.NewReader(""), &stdout, &stderr)
	}()
	select {
	case code := <-ended:
		if code != 1 || stdout.Len() > 0 || stderr.String() != "error: interrupted\n" {
			t.Errorf("it ended with %d and said %q, %q", code, &stdout, &stderr)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("it does not end")
	}
}
