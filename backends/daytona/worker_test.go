package daytona_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/driver"
)

// TestRetiredWorkers lets shells be given up again and again. They end, and what they have left
// running does not.
func TestRetiredWorkers(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	sb := begun(t, b)
	const shells = `for p in /proc/[0-9]*; do readlink $p/exe; done 2>/dev/null | grep -c -E '/(sh|dash|bash|zsh)$' || true`
	before := shell(t, sb, shells)
	shell(t, sb, "sleep 1000 >/dev/null 2>&1 & echo $! >/tmp/pid")
	for range 3 {
		in := srv.Inject(daytonatest.Fault{Plane: "toolbox", Path: "/input", Status: 410})
		shell(t, sb, "true")
		if in.Struck() != 1 {
			t.Errorf("the fault has struck %d times", in.Struck())
		}
		in.Remove()
	}
	deadline := time.Now().Add(20 * time.Second)
	for now := ""; now != before; {
		if time.Now().After(deadline) {
			t.Fatalf("of %q shells there are %q", before, now)
		}
		now = shell(t, sb, shells)
	}
	shell(t, sb, "kill -0 $(cat /tmp/pid)")

	// A shell that could not be listened to has run nothing.
	sessions := func() int {
		return strings.Count(toolbox(t, srv, "GET", sb.ID(), "/process/session", nil), `"sessionId"`)
	}
	in := srv.Inject(daytonatest.Fault{Plane: "toolbox", Path: "/logs", Status: 404})
	defer in.Remove()
	known := sessions()
	var out bytes.Buffer
	ended := make(chan error, 1)
	ready := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // occupies the shell that is there
		_, err := sb.Exec(ctx, &driver.Command{Args: []string{"sh", "-c", "echo ready; sleep 1000"}, Stdout: &trigger{text: "ready", pull: func() { close(ready) }}})
		ended <- err
	}()
	<-ready
	if _, err := sb.Exec(t.Context(), &driver.Command{Args: []string{"true"}, Stdout: &out}); err == nil {
		t.Error("a log that is not there: no error")
	}
	for sessions() > known {
		if time.Now().After(deadline.Add(20 * time.Second)) {
			t.Fatalf("%d sessions are left of %d", sessions(), known)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
