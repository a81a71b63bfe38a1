package daytona_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/driver"
)

// begun starts a sandbox that is closed when t ends.
func begun(t *testing.T, b daytona.Backend) driver.Sandbox {
	t.Helper()
	sb, err := b.Start(t.Context(), driver.Spec{Program: program(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sb.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return sb
}

// shell runs a script in a sandbox and returns what it prints.
func shell(t *testing.T, sb driver.Sandbox, script string) string {
	t.Helper()
	var out bytes.Buffer
	st, err := sb.Exec(t.Context(), &driver.Command{Args: []string{"sh", "-c", script}, Stdout: &out})
	if err != nil || st.Code != 0 {
		t.Errorf("%s: %+v, %v", script, st, err)
	}
	return out.String()
}

// TestOutage lets new requests to a healthy sandbox fail, as an outage of the network or of
// Daytona's proxy does. Whatever runs in the sandbox goes on.
func TestOutage(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	b.CreateTimeout = 4 * time.Second // of which a quarter is waited for a sandbox that does not answer
	for name, f := range map[string]daytonatest.Fault{
		"reset":       {Reset: daytonatest.Before},
		"401":         {Status: 401, Body: `{"message":"authentication failed: Bearer token is invalid"}`},
		"503":         {Status: 503},
		"502":         {Status: 502}, // what a sandbox gets in which nothing runs, but a command is being followed
		"not started": {Status: 400, Body: `{"message":"no IP address found. Is the Sandbox started?"}`},
	} {
		t.Run(name, func(t *testing.T) {
			sb := begun(t, b)
			shell(t, sb, "setsid sleep 1000 >/dev/null 2>&1 & echo $! >/tmp/pid")
			long, cancel := context.WithCancel(t.Context())
			defer cancel()
			ready, ended := make(chan struct{}), make(chan error, 1)
			go func() {
				_, err := sb.Exec(long, &driver.Command{Args: []string{"sh", "-c", "echo ready; sleep 1000"}, Stdout: &trigger{text: "ready", pull: func() { close(ready) }}})
				ended <- err
			}()
			select {
			case <-ready:
			case err := <-ended:
				t.Fatal(err)
			}

			// The second command needs a shell of its own.
			f.Plane, f.Method, f.Times = "toolbox", "POST", -1
			f.Match = func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/process/session") }
			in := srv.Inject(f)
			if _, err := sb.Exec(t.Context(), &driver.Command{Args: []string{"true"}}); err == nil || errors.Is(err, remote.ErrSandboxGone) || !strings.Contains(err.Error(), "daytona: the sandbox "+sb.ID()) {
				t.Errorf("a command during the outage: %v", err)
			}
			in.Remove()

			if n := srv.Count("POST", "stop"); n > 0 {
				t.Errorf("a healthy sandbox was stopped %d times", n)
			}
			select {
			case err := <-ended:
				t.Errorf("the command that was under way: %v", err)
			default:
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("the command that was under way, cancelled: %v", err)
				}
			}
			shell(t, sb, "kill -0 $(cat /tmp/pid)")
		})
	}
}
