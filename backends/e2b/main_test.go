//go:build linux && !remotebox_runner

package e2b_test

import (
	"bytes"
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/backendtest"
	"github.com/remote-box/remote/backends/e2b"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
)

// on is a backend whose sandboxes are made by srv.
func on(srv *e2btest.Server) e2b.Backend {
	return e2b.Backend{APIKey: e2b.Secret(srv.Key), APIURL: srv.APIURL(), SandboxURL: srv.SandboxURL(), BuildLog: &log{}}
}

// serve starts a server and builds the template that on's functions run in.
func serve(t testing.TB, cfg e2btest.Config) (*e2btest.Server, e2b.Backend) {
	t.Helper()
	srv := e2btest.New(t, cfg)
	b := on(srv)
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err != nil {
		t.Fatal(err)
	}
	srv.ResetRequests()
	return srv, b
}

// log is a log that many may write to.
type log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// await returns once what happens beside the calls of ctx's session has made a condition true.
func await(ctx context.Context, t *testing.T, happened func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for !happened() {
		if _, err := testfunc.Size.Call(ctx, "x"); err != nil {
			t.Fatal(err)
		}
	}
}

// none checks that no sandbox is left.
func none(t testing.TB, srv *e2btest.Server) {
	t.Helper()
	if left := srv.Sandboxes(); len(left) > 0 {
		t.Errorf("sandboxes are left: %+v", left)
	}
}

func TestConformance(t *testing.T) {
	srv := e2btest.New(t, e2btest.Config{MaxSandboxes: -1})
	env := map[string]string{"SOME_VARIABLE": "some value\nin two lines"}
	backendtest.Run(t, func(testing.TB) backendtest.Config {
		b := on(srv)
		b.Env = env
		return backendtest.Config{
			Backend: b, Env: env, Hidden: []string{srv.Key},
			Remove: func(_ context.Context, id string) error { return srv.KillSandbox(id) },
		}
	})
	none(t, srv)
}

// TestLive holds E2B itself to the contract.
func TestLive(t *testing.T) {
	if os.Getenv("REMOTE_BOX_LIVE") != "e2b" {
		t.Skip("REMOTE_BOX_LIVE is not e2b")
	}
	backendtest.Run(t, func(testing.TB) backendtest.Config {
		return backendtest.Config{Backend: e2b.Backend{TemplatePrefix: "remote-box-live"}, Hidden: []string{os.Getenv("E2B_API_KEY")}}
	})
}
