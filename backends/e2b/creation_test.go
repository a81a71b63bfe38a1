//go:build linux && !remotebox_runner

package e2b_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
)

// TestCreationGivenUp checks that nothing is left of a creation whose answer took too long for
// somebody who had given it up, whether the server sees that or not.
func TestCreationGivenUp(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	for _, delay := range []time.Duration{time.Second, 8 * time.Second} {
		fault := srv.Inject(e2btest.Fault{Method: http.MethodPost, Path: "/sandboxes", Delay: delay, Unaware: true})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err := testfunc.Size.Call(remote.WithBackend(ctx, b), "x")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || fault.Hits() != 1 {
			t.Errorf("after %v: %v", delay, err)
		}
		fault.Wait()
		none(t, srv)
	}
}

// lostCreation is a creation that takes longer than anybody waits before sending it again, and whose
// connection is lost at once.
var lostCreation = e2btest.Fault{Method: http.MethodPost, Path: "/sandboxes", Reset: e2btest.ResetMeanwhile, Delay: 8 * time.Second}

// TestLateCreation checks that nothing is left of a creation that is still under way when another one
// has taken its place and the call is over.
func TestLateCreation(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	fault := srv.Inject(lostCreation)
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err != nil {
		t.Error(err)
	}
	fault.Wait()
	none(t, srv)
	if made := creations(srv); made != 2 {
		t.Errorf("%d creations", made)
	}
}

// TestLateCreationOfSession is TestLateCreation for a session, which need not be closed for it.
func TestLateCreationOfSession(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	fault := srv.Inject(lostCreation)
	ctx, id := session(t, b)
	fault.Wait()
	await(ctx, t, func() bool {
		left := srv.Sandboxes()
		return len(left) == 1 && left[0].ID == id
	})
	if made := creations(srv); made != 2 {
		t.Errorf("%d creations", made)
	}
}

func creations(srv *e2btest.Server) int {
	n := 0
	for _, r := range srv.Requests() {
		if r.Method == http.MethodPost && r.Path == "/sandboxes" {
			n++
		}
	}
	return n
}
