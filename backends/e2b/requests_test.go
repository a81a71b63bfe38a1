//go:build linux && !remotebox_runner

package e2b_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
)

// requests are the requests that have reached srv, ids left out.
func requests(srv *e2btest.Server) []string {
	var list []string
	for _, r := range srv.Requests() {
		path := r.Path
		if r.SandboxID != "" {
			path = strings.ReplaceAll(path, r.SandboxID, "ID")
		}
		list = append(list, r.Method+" "+path)
	}
	return list
}

func expect(t *testing.T, srv *e2btest.Server, what string, want ...string) {
	t.Helper()
	if got := requests(srv); !slices.Equal(got, want) {
		t.Errorf("%s took the requests\n\t%s\nnot\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	srv.ResetRequests()
}

const start = "POST /process.Process/Start"

func TestRequests(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "a call in a sandbox of its own", "POST /sandboxes", start, "DELETE /sandboxes/ID")

	s := remote.NewSession(b)
	defer s.Close(t.Context())
	ctx := s.Context(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "starting a session", "POST /sandboxes")
	if _, err := testfunc.Size.Call(ctx, strings.Repeat("x", 60<<10)); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "a call in a session", start)
	if n, err := testfunc.Size.Call(ctx, strings.Repeat("x", 1<<20)); err != nil || n != 1<<20 {
		t.Fatal(n, err)
	}
	expect(t, srv, "a call with a large input", "POST /files", start)
	if text, err := testfunc.Fill.Call(ctx, 1<<20); err != nil || len(text) != 1<<20 {
		t.Fatal(len(text), err)
	}
	expect(t, srv, "a call with a large result", start, "GET /files")
	ref, err := s.Pause(ctx)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "a pause", start, "POST /sandboxes/ID/pause")
	if _, err := testfunc.Size.Call(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "a call after a pause", "POST /sandboxes/ID/connect", "GET /health", start)
	again, err := remote.Resume(t.Context(), ref, b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := testfunc.Size.Call(again.Context(t.Context()), "x"); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "a call by a ref", "POST /sandboxes/ID/connect", "GET /health", start)
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "closing", "DELETE /sandboxes/ID")
}

// TestCreation checks what a creation says.
func TestCreation(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	b.TTL, b.Metadata, b.Env = 90*time.Second, map[string]string{"team": "blue"}, map[string]string{"A": "1"}
	s := remote.NewSession(b)
	defer s.Close(t.Context())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	body := string(srv.Requests()[0].Body)
	for _, want := range []string{`"timeout":90`, `"secure":true`, `"team":"blue"`, `"remote-box-request":"`, `"owner":`, `"session":`, `"allowPublicTraffic":false`, `"A":"1"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the creation does not say %s: %s", want, body)
		}
	}
	if strings.Contains(body, "autoPause") {
		t.Errorf("autoPause, which nobody asked for: %s", body)
	}
}

// BenchmarkCall measures calls beside one bare round trip, at 50 ms each way of latency in the
// server.
func BenchmarkCall(b *testing.B) {
	srv, backend := serve(b, e2btest.Config{})
	srv.SetLatency(50 * time.Millisecond)
	bench := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				if err := f(); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "calls/s")
		})
	}
	bench("RoundTrip", func() error { return bare(srv) })
	s := remote.NewSession(backend)
	defer s.Close(b.Context())
	ctx := s.Context(b.Context())
	if err := s.Start(ctx); err != nil {
		b.Fatal(err)
	}
	bench("Warm", func() error { _, err := testfunc.Size.Call(ctx, "x"); return err })
	bench("Cold", func() error {
		_, err := testfunc.Size.Call(remote.WithBackend(b.Context(), backend), "x")
		return err
	})
}
