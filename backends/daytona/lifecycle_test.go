package daytona_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
	"github.com/remote-box/remote/driver"
)

// started is a session whose sandbox runs.
func started(t *testing.T, b daytona.Backend) (ctx context.Context, s *remote.Session, id string) {
	t.Helper()
	s = remote.NewSession(b)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil && !errors.Is(err, remote.ErrSandboxGone) {
			t.Errorf("Close: %v", err)
		}
	})
	ctx = s.Context(t.Context())
	if _, err := testfunc.Shell.Call(ctx, "echo kept >/tmp/file"); err != nil {
		t.Fatal(err)
	}
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	return ctx, s, ref.Sandbox
}

// kept checks that the sandbox has the file that started made.
func kept(t *testing.T, ctx context.Context) {
	t.Helper()
	if got, err := testfunc.Shell.Call(ctx, "cat /tmp/file"); err != nil || got != "kept\n" {
		t.Errorf("the sandbox's file: %q, %v", got, err)
	}
}

// TestFromOutside does things to a sandbox behind the backend's back.
func TestFromOutside(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	t.Run("stopped", func(t *testing.T) {
		ctx, _, id := started(t, b)
		if err := srv.StopSandbox(id); err != nil {
			t.Fatal(err)
		}
		kept(t, ctx)
	})
	t.Run("killed under the platform", func(t *testing.T) {
		b := b
		b.CreateTimeout = 4 * time.Second // of which a quarter is waited
		ctx, _, id := started(t, b)
		if err := srv.KillSandbox(id); err != nil {
			t.Fatal(err)
		}
		kept(t, ctx)
		if srv.Count("POST", "stop") == 0 {
			t.Error("the zombie was not restarted")
		}
	})
	t.Run("failed", func(t *testing.T) {
		ctx, _, id := started(t, b)
		if err := srv.FailSandbox(id, "the host burned down", false); err != nil {
			t.Fatal(err)
		}
		if _, err := testfunc.Size.Call(ctx, "x"); !errors.Is(err, remote.ErrSandboxGone) || !strings.Contains(err.Error(), "the host burned down") || !strings.Contains(err.Error(), id) {
			t.Errorf("a call in a failed sandbox: %v", err)
		}
	})
	t.Run("failed but recoverable", func(t *testing.T) {
		ctx, _, id := started(t, b)
		if err := srv.FailSandbox(id, "disk full", true); err != nil {
			t.Fatal(err)
		}
		kept(t, ctx)
	})
	t.Run("deleted during a call", func(t *testing.T) {
		ctx, _, id := started(t, b)
		ctx = remote.WithOutput(ctx, &trigger{text: "ready", pull: func() { go srv.DeleteSandbox(id) }}, nil)
		if _, err := testfunc.Slow.Call(ctx, time.Minute); !errors.Is(err, remote.ErrSandboxGone) {
			t.Errorf("the call: %v", err)
		}
	})
	t.Run("stopped during a call", func(t *testing.T) {
		ctx, _, id := started(t, b)
		out := remote.WithOutput(ctx, &trigger{text: "ready", pull: func() { go srv.StopSandbox(id) }}, nil)
		var exit *remote.ExitError
		if _, err := testfunc.Slow.Call(out, time.Minute); !errors.As(err, &exit) {
			t.Errorf("the call: %v", err)
		}
		kept(t, ctx)
	})
	t.Run("archived", func(t *testing.T) {
		b := b
		b.ArchivePaused = true
		ctx, s, id := started(t, b)
		if _, err := s.Pause(ctx); err != nil {
			t.Fatal(err)
		}
		for _, sb := range srv.Sandboxes() {
			if sb.ID == id && sb.State != "archived" {
				t.Errorf("the paused sandbox is %s", sb.State)
			}
		}
		kept(t, ctx)
	})
}

// trigger is a writer that calls pull once it has seen text.
type trigger struct {
	text string
	pull func()
	seen strings.Builder
	done bool
}

func (w *trigger) Write(p []byte) (int, error) {
	if w.seen.Write(p); !w.done && strings.Contains(w.seen.String(), w.text) {
		w.done = true
		w.pull()
	}
	return len(p), nil
}

// TestAttach attaches by a sandbox's name, and not to just any sandbox.
func TestAttach(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	_, s, id := started(t, b)
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	if sandbox := srv.Sandboxes()[0]; sandbox.ID != id || sandbox.Labels["remote-box"] != "1" || sandbox.Labels["session"] == "" || len(sandbox.Env) != 0 {
		t.Errorf("the sandbox: %+v", sandbox)
	}
	ref.Sandbox = srv.Sandboxes()[0].Name
	again, err := remote.Resume(t.Context(), ref, b)
	if err != nil {
		t.Fatal(err)
	}
	kept(t, again.Context(t.Context()))
	if found, err := again.Ref(); err != nil || found.Sandbox != id || found.Image == "" {
		t.Errorf("the ref of a session that was found by name: %+v, %v", found, err)
	}
}

// TestLongCalls checks that a sandbox is not stopped while a call runs in it, and is when none does.
func TestLongCalls(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{Minute: 20 * time.Millisecond})
	b.AutoStop = 20 * time.Minute // 400 ms here
	b = daytona.Beating(b, 50*time.Millisecond)
	ctx, _, id := started(t, b)
	if _, err := testfunc.Slow.Call(ctx, 1500*time.Millisecond); err != nil {
		t.Errorf("a long call: %v", err)
	}
	deadline := time.After(20 * time.Second)
	for state := ""; state != "stopped"; {
		select {
		case <-deadline:
			t.Fatalf("an idle sandbox is still %s", state)
		case <-time.After(10 * time.Millisecond):
		}
		for _, sb := range srv.Sandboxes() {
			if sb.ID == id {
				state = sb.State
			}
		}
	}
	kept(t, ctx)
}

// TestCanceledCreation cancels creations at every moment; the request that is under way may still
// be carried out.
func TestCanceledCreation(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{Times: daytonatest.Times{Create: 100 * time.Millisecond}})
	for _, at := range []daytonatest.Fault{
		{Path: "/api/sandbox", Delay: 50 * time.Millisecond},     // before it is looked at
		{Path: "/api/sandbox", FirstByte: 50 * time.Millisecond}, // after it was carried out
		{Path: "/process/session", Delay: 50 * time.Millisecond}, // when the toolbox is looked for
	} {
		ctx, cancel := context.WithCancel(remote.WithBackend(t.Context(), b))
		at.Do = cancel
		at.Method = "POST"
		in := srv.Inject(at)
		if _, err := testfunc.Size.Call(ctx, "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v", at, err)
		}
		in.Remove()
		cancel()
		none(t, srv)
	}
}

// TestEphemeral pauses what can't be paused: it goes on.
func TestEphemeral(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	b.Ephemeral = true
	ctx, s, _ := started(t, b)
	if ref, err := s.Pause(ctx); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "Ephemeral") {
		t.Errorf("%v, %v", ref, err)
	}
	if s.PauseSemantics() != remote.PauseNone {
		t.Errorf("a pause keeps %v", s.PauseSemantics())
	}
	if n := srv.Count("POST", "stop"); n > 0 {
		t.Errorf("it was stopped %d times", n)
	}
	kept(t, ctx)
}

// TestErrors checks the types of what a provider refuses.
func TestErrors(t *testing.T) {
	t.Run("a wrong key", func(t *testing.T) {
		srv, b := serve(t, daytonatest.Config{})
		b.APIKey = "dtn_wrong"
		var refused *remote.CredentialError
		_, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x")
		if !errors.As(err, &refused) || refused.Variable != "DAYTONA_API_KEY" {
			t.Errorf("%v", err)
		}
		none(t, srv)
	})
	t.Run("quota", func(t *testing.T) {
		_, b := serve(t, daytonatest.Config{Quota: daytonatest.Quota{CPU: 1}})
		_, _, _ = started(t, b)
		var limit *remote.LimitError
		if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); !errors.As(err, &limit) || !strings.Contains(limit.Message, "CPU limit exceeded") {
			t.Errorf("%v", err)
		}
	})
	t.Run("rate", func(t *testing.T) {
		srv, b := serve(t, daytonatest.Config{})
		in := srv.Inject(daytonatest.Fault{Method: "POST", Path: "/api/sandbox", Times: -1, Status: 429, RetryAfter: 60, Throttler: "sandbox-create", Body: `{"message":"ThrottlerException: Too Many Requests"}`})
		var limit *remote.LimitError
		if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); !errors.As(err, &limit) || limit.Wait != time.Minute {
			t.Errorf("%v", err)
		}
		if in.Struck() != 1 {
			t.Errorf("a limit that lasts a minute was tried %d times", in.Struck())
		}
	})
	t.Run("a region that is none", func(t *testing.T) {
		_, b := serve(t, daytonatest.Config{})
		b.Target = "mars"
		const want = `daytona: Target: the region "mars" can't be used: `
		if _, err := b.Start(t.Context(), driver.Spec{Program: program(t)}); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "Region not found") || !strings.Contains(err.Error(), "DAYTONA_TARGET") {
			t.Errorf("%v", err)
		}
		if err := image(t, b, program(t)).Build(t.Context(), io.Discard); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("building: %v", err)
		}
	})
	t.Run("a snapshot of somebody else's", func(t *testing.T) {
		srv, b := serve(t, daytonatest.Config{})
		b.Snapshot = "daytona-small"
		var exit *remote.ExitError
		_, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x")
		if !errors.As(err, &exit) || exit.Code != 127 || !strings.Contains(err.Error(), "daytona-small was not made by remote-box") || !strings.Contains(err.Error(), "Set no Snapshot") {
			t.Errorf("%v", err)
		}
		none(t, srv)
	})
	t.Run("a snapshot that failed", func(t *testing.T) {
		srv, b := serve(t, daytonatest.Config{})
		b.Snapshot = "broken"
		defer srv.Inject(daytonatest.Fault{Plane: "api", Method: "POST", Path: "/api/sandbox", Status: 400, Body: `{"message":"Snapshot broken is error"}`, Times: -1}).Remove()
		defer srv.Inject(daytonatest.Fault{Plane: "api", Method: "GET", Path: "/snapshots", Status: 200, Body: `{"id":"x","name":"broken","state":"error","errorReason":null}`, Times: -1}).Remove()
		if _, err := b.Start(t.Context(), driver.Spec{Program: program(t)}); err == nil || err.Error() != "daytona: the snapshot broken is in state error: Daytona gives no reason" {
			t.Errorf("%v", err)
		}
	})
	t.Run("too slow", func(t *testing.T) {
		srv, b := serve(t, daytonatest.Config{})
		b.CreateTimeout = 300 * time.Millisecond
		in := srv.Inject(daytonatest.Fault{Path: "/process/session", Times: -1, Status: 502})
		if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err == nil || !strings.Contains(err.Error(), "CreateTimeout") {
			t.Errorf("%v", err)
		}
		in.Remove()
		none(t, srv)
	})
}
