//go:build linux && !remotebox_runner

package e2b_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
	"github.com/remote-box/remote/driver"
)

// TestRedirects checks that no answer, which may be a sandbox's own, sends this host's requests
// anywhere else.
func TestRedirects(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	var hits atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer elsewhere.Close()
	k := &keeper{Backend: b}
	s := remote.NewSession(k)
	defer s.Close(t.Context())
	ctx := s.Context(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	files := k.sb.(driver.Files)
	for _, c := range []struct {
		plane        e2btest.Plane
		method, path string
		do           func() error
	}{
		{e2btest.PlaneSandbox, http.MethodGet, "/files", func() error { _, err := files.ReadFile(ctx, "/tmp/x"); return err }},
		{e2btest.PlaneSandbox, http.MethodPost, "/files", func() error { return files.WriteFile(ctx, "/tmp/x", strings.NewReader("x")) }},
		{e2btest.PlaneSandbox, http.MethodPost, start[len("POST "):], func() error {
			_, err := k.sb.Exec(ctx, &driver.Command{Args: []string{"/bin/true"}})
			return err
		}},
		{e2btest.PlaneAPI, http.MethodPost, "/sandboxes", func() error {
			_, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x")
			return err
		}},
	} {
		for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
			fault := srv.Inject(e2btest.Fault{
				Plane: c.plane, Method: c.method, Path: c.path, Status: status, Times: -1,
				Header: http.Header{"Location": {elsewhere.URL + "/latest?sig=s3cret"}},
			})
			err := c.do()
			if err == nil || !strings.Contains(err.Error(), "redirects to "+elsewhere.URL) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%d of %s %s: %v", status, c.method, c.path, err)
			}
			fault.Remove()
		}
	}
	if n := hits.Load(); n > 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}
