package daytona_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
)

// serve starts a server and builds the snapshot that on's functions run in.
func serve(t testing.TB, cfg daytonatest.Config) (*daytonatest.Server, daytona.Backend) {
	t.Helper()
	srv := isolated(t, cfg)
	b := on(srv)
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err != nil {
		t.Fatal(err)
	}
	srv.ForgetRequests()
	return srv, b
}

// requests are the requests that have reached srv, ids left out.
func requests(srv *daytonatest.Server) []string {
	var list []string
	for _, r := range srv.Requests() {
		words := strings.Split(r.Path, "/")
		for i, w := range words {
			if i > 0 && (words[i-1] == "session" || words[i-1] == "command" || words[i-1] == "sandbox") {
				words[i] = "ID"
			}
			_ = w
		}
		list = append(list, r.Method+" "+strings.Join(words, "/"))
	}
	return list
}

func expect(t *testing.T, srv *daytonatest.Server, what string, want ...string) {
	t.Helper()
	if got := requests(srv); !slices.Equal(got, want) {
		t.Errorf("%s took the requests\n\t%s\nnot\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	srv.ForgetRequests()
}

const (
	create  = "POST /api/sandbox"
	get     = "GET /api/sandbox/ID"
	remove  = "DELETE /api/sandbox/ID"
	session = "POST /process/session"
	exec    = "POST /process/session/ID/exec"
	input   = "POST /process/session/ID/command/ID/input"
	logs    = "GET /process/session/ID/command/ID/logs"
)

func TestRequests(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "a call in a sandbox of its own", create, session, exec, logs, remove)

	s := remote.NewSession(b)
	defer s.Close(context.WithoutCancel(t.Context()))
	ctx := s.Context(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "starting a session", create, session, exec, logs)
	for range 3 {
		if _, err := testfunc.Size.Call(ctx, strings.Repeat("x", 60<<10)); err != nil {
			t.Fatal(err)
		}
		expect(t, srv, "a call in a session", input)
	}
	if n, err := testfunc.Size.Call(ctx, strings.Repeat("x", 1<<20)); err != nil || n != 1<<20 {
		t.Fatal(n, err)
	}
	expect(t, srv, "a call with a large input", "POST /files/bulk-upload", input)
	if text, err := testfunc.Fill.Call(ctx, 1<<20); err != nil || len(text) != 1<<20 {
		t.Fatal(len(text), err)
	}
	expect(t, srv, "a call with a large result", input, "GET /files/download")
	ref, err := s.Pause(ctx)
	if err != nil {
		t.Fatal(err)
	}
	polled(t, srv, "a pause", get, "POST /api/sandbox/ID/stop", get)
	if _, err := testfunc.Size.Call(ctx, "x"); err != nil {
		t.Fatal(err)
	}
	polled(t, srv, "a call after a pause", get, "POST /api/sandbox/ID/start", get, session, exec, logs, input)
	again, err := remote.Resume(t.Context(), ref, b)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "finding a session that runs", get, session, exec, logs)
	if _, err := testfunc.Size.Call(again.Context(t.Context()), "x"); err != nil {
		t.Fatal(err)
	}
	expect(t, srv, "a call by a ref", input)
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	polled(t, srv, "closing", remove, get)
}

// polled is expect without the repetitions of a request that waits for a state.
func polled(t *testing.T, srv *daytonatest.Server, what string, want ...string) {
	t.Helper()
	if got := slices.Compact(requests(srv)); !slices.Equal(got, want) {
		t.Errorf("%s took the requests\n\t%s\nnot\n\t%s", what, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	srv.ForgetRequests()
}
