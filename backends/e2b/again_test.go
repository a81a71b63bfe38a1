//go:build linux && !remotebox_runner

package e2b_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
	"github.com/remote-box/remote/driver"
)

// unanswered stands before a server's sandboxes: of as many starts that match as are stored in it, it
// passes on the request and says instead of the answer what E2B's proxy says when the agent's was lost.
func unanswered(t *testing.T, srv *e2btest.Server, match func(*http.Request) bool) (address string, starts *atomic.Int32) {
	t.Helper()
	target, err := url.Parse(srv.SandboxURL())
	if err != nil {
		t.Fatal(err)
	}
	starts = new(atomic.Int32)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == start[len("POST "):] && match(r) && starts.Add(-1) >= 0 {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, `{"sandboxId":"x","message":"The sandbox is running but port is not open","port":49983,"code":502}`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL, starts
}

// TestUnanswered checks that what may have begun is not begun again, unless it is a call: its runner
// sees to that.
func TestUnanswered(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	var starts *atomic.Int32
	b.SandboxURL, starts = unanswered(t, srv, func(*http.Request) bool { return true })
	k := &keeper{Backend: b}
	s := remote.NewSession(k)
	defer s.Close(t.Context())
	ctx := s.Context(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	starts.Store(1)
	if st, err := k.sb.Exec(ctx, &driver.Command{Args: []string{"/bin/sh", "-c", "echo x >> /tmp/count"}}); err == nil || !strings.Contains(err.Error(), "may have begun") {
		t.Errorf("%+v, %v", st, err)
	}
	out := &log{}
	if _, err := k.sb.Exec(ctx, &driver.Command{Args: []string{"/bin/cat", "/tmp/count"}, Stdout: out}); err != nil || out.String() != "x\n" {
		t.Errorf("a command left %q, %v", out, err)
	}
	starts.Store(1)
	if n, err := testfunc.Once.Call(ctx, "unanswered"); err != nil || n != 1 {
		t.Errorf("a call: %d, %v", n, err)
	}
}

// TestUnansweredPost is TestUnanswered for PostCreateCmd.
func TestUnansweredPost(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	var starts *atomic.Int32
	b.SandboxURL, starts = unanswered(t, srv, func(r *http.Request) bool {
		user, _, _ := r.BasicAuth()
		return user == "root"
	})
	b.PostCreateCmd = "echo x >> /tmp/post"
	said := b.BuildLog.(*log)
	starts.Store(1)
	ctx, _ := session(t, b)
	await(ctx, t, func() bool { return strings.Contains(said.String(), "may have begun") })
	if got, err := testfunc.Look.Call(ctx, []string{"/tmp/post"}); err != nil || !strings.HasSuffix(got.Files["/tmp/post"], " x\n") {
		t.Errorf("%q, %v", got.Files, err)
	}
}

// TestDeadButListed checks that a sandbox which E2B calls running, and its proxy does not know, is
// given up soon, by a bounded number of requests.
func TestDeadButListed(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	ctx, _ := session(t, b)
	srv.ResetRequests()
	srv.Inject(e2btest.Fault{
		Plane: e2btest.PlaneSandbox, Status: 502, Body: `{"sandboxId":"x","message":"The sandbox was not found","code":502}`, Times: -1,
	})
	begin := time.Now()
	if _, err := testfunc.Size.Call(ctx, "x"); !errors.Is(err, remote.ErrSandboxGone) {
		t.Errorf("%v", err)
	}
	took, sent := time.Since(begin), requests(srv)
	connects := 0
	for _, r := range sent {
		if r == "POST /sandboxes/ID/connect" {
			connects++
		}
	}
	t.Logf("%v, %d requests", took, len(sent))
	if took > 40*time.Second || len(sent) > 40 || connects != 1 {
		t.Errorf("it took %v and %d requests: %q", took, len(sent), sent)
	}
}

// TestUnreachableSandbox is TestDeadButListed for an agent that does not answer: it is not gone.
func TestUnreachableSandbox(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	ctx, _ := session(t, b)
	srv.ResetRequests()
	srv.Inject(e2btest.Fault{
		Plane: e2btest.PlaneSandbox, Status: 502, Times: -1,
		Body: `{"sandboxId":"x","message":"The sandbox is running but port is not open","port":49983,"code":502}`,
	})
	begin := time.Now()
	_, err := testfunc.Size.Call(ctx, "x")
	if err == nil || errors.Is(err, remote.ErrSandboxGone) || !strings.Contains(err.Error(), "port is not open") {
		t.Errorf("%v", err)
	}
	took, n := time.Since(begin), len(requests(srv))
	t.Logf("%v, %d requests", took, n)
	if took > time.Minute || n > 60 {
		t.Errorf("it took %v and %d requests", took, n)
	}
}

// TestAgentsWords checks that what an agent says is bounded and printable in errors: it may be a
// program of the sandbox.
func TestAgentsWords(t *testing.T) {
	_, b := serve(t, e2btest.Config{})
	k := &keeper{Backend: b}
	s := remote.NewSession(k)
	defer s.Close(t.Context())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := k.sb.Exec(t.Context(), &driver.Command{Args: []string{"/bin/true"}, Dir: "/no\x1b[31m" + strings.Repeat("x", 20_000)})
	if err == nil || len(err.Error()) > 5000 || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), "xxx") {
		t.Errorf("%d bytes: %v", len(err.Error()), err)
	}
}
