//go:build linux && !remotebox_runner

package e2b_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
)

// TestLifetime checks that a TTL is renewed while there are calls, and only when it is time.
func TestLifetime(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	b.TTL = 2 * time.Second
	ctx, _ := session(t, b)
	srv.ResetRequests()
	if out, err := testfunc.Slow.Call(ctx, 5*time.Second); err != nil || out != "done" {
		t.Fatalf("a call longer than the TTL: %q, %v", out, err)
	}
	renewed := 0
	for _, r := range requests(srv) {
		if r == "POST /sandboxes/ID/timeout" {
			renewed++
		}
	}
	if renewed < 3 || renewed > 8 {
		t.Errorf("in 5 s a TTL of 2 s was renewed %d times", renewed)
	}
}

// TestRefreshed is TestLifetime for a TTL that E2B extends by itself.
func TestRefreshed(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	b.TTL = 15 * time.Second
	ctx, _ := session(t, b)
	before := srv.Sandboxes()[0].EndAt
	srv.ResetRequests()
	if out, err := testfunc.Slow.Call(ctx, 9*time.Second); err != nil || out != "done" {
		t.Fatalf("%q, %v", out, err)
	}
	expect(t, srv, "a call over the middle of the TTL", start, "POST /sandboxes/ID/refreshes")
	if after := srv.Sandboxes()[0].EndAt; after.Sub(before) < 5*time.Second {
		t.Errorf("the end was moved from %v to %v", before, after)
	}
}

// TestNeverShortened checks that a session which attaches with a short TTL leaves a sandbox the longer
// life that it has.
func TestNeverShortened(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	b.TTL = time.Hour
	s := remote.NewSession(b)
	defer s.Close(t.Context())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	end := srv.Sandboxes()[0].EndAt
	for _, ttl := range []time.Duration{2 * time.Second, 15 * time.Second} {
		b.TTL = ttl
		again, err := remote.Resume(t.Context(), ref, b)
		if err != nil {
			t.Fatal(err)
		}
		srv.ResetRequests()
		if _, err := testfunc.Slow.Call(again.Context(t.Context()), ttl*3/4); err != nil {
			t.Fatal(err)
		}
		renewed := func(r string) bool { return r == "GET /sandboxes/ID" || r == "POST /sandboxes/ID/refreshes" }
		if sent := requests(srv); !slices.ContainsFunc(sent, renewed) {
			t.Errorf("there was no renewal: %q", sent)
		}
		if now := srv.Sandboxes()[0].EndAt; now.Before(end) {
			t.Errorf("a TTL of %v moved the end from %v to %v", ttl, end, now)
		}
	}
}

// TestPauseInTime checks that a pause neither waits for a renewal nor longer than it may.
func TestPauseInTime(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	b.TTL = 2 * time.Second
	s := remote.NewSession(b)
	defer s.Close(t.Context())
	ctx := s.Context(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	slow := srv.Inject(e2btest.Fault{Plane: e2btest.PlaneAPI, Path: "/sandboxes/*", Method: "GET", Delay: time.Minute, Times: -1})
	if _, err := testfunc.Slow.Call(ctx, 1500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if slow.Hits() == 0 {
		t.Fatal("there is no renewal under way")
	}
	begin := time.Now()
	if _, err := s.Pause(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	slow.Remove()

	s = remote.NewSession(b)
	defer s.Close(t.Context())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv.Inject(e2btest.Fault{Path: "/sandboxes/*/pause", Delay: time.Minute})
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin = time.Now()
	if _, err := s.Pause(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// TestFlushed checks that a sandbox writes its files out before it is paused, and that a pause does not
// depend on that.
func TestFlushed(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	s := remote.NewSession(b)
	defer s.Close(t.Context())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	srv.Inject(e2btest.Fault{Plane: e2btest.PlaneSandbox, Path: start[len("POST "):], Status: 500})
	if _, err := s.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := srv.Sandboxes(); len(left) != 1 || left[0].State != e2btest.Paused {
		t.Errorf("%+v", left)
	}
}

// TestAutoPauseForgotten checks that somebody is told when a sandbox will not be paused as asked for.
func TestAutoPauseForgotten(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	s := remote.NewSession(b) // without AutoPause
	defer s.Close(t.Context())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ref, err := s.Pause(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	said := b.BuildLog.(*log)
	for _, c := range []struct {
		auto bool
		says bool
	}{{false, false}, {true, true}} {
		b.AutoPause = c.auto
		again, err := remote.Resume(t.Context(), ref, b)
		if err != nil {
			t.Fatal(err)
		}
		srv.ResetRequests()
		if _, err := testfunc.Size.Call(again.Context(t.Context()), "x"); err != nil {
			t.Fatal(err)
		}
		if c.says {
			await(again.Context(t.Context()), t, func() bool { return strings.Contains(said.String(), "AutoPause was not set") })
		}
		if !c.says && strings.Contains(said.String(), "AutoPause") {
			t.Errorf("%s", said)
		}
	}
}
