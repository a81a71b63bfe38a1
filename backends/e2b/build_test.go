//go:build linux && !remotebox_runner

package e2b_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
)

const statusPath = "/templates/*/builds/*/status"

// TestBuildOutage checks that a build is not lost because E2B can't be asked about it for a while, and
// that the error says what to do if it can't at all.
func TestBuildOutage(t *testing.T) {
	t.Parallel()
	srv := e2btest.New(t, e2btest.Config{})
	img, err := on(srv).Image(t.Context(), programOf(t))
	if err != nil {
		t.Fatal(err)
	}
	srv.Inject(e2btest.Fault{Path: statusPath, Status: 404, Times: 1, Body: `{"code":404,"message":"no such build"}`})
	var failed *remote.BuildError
	if err := img.Build(t.Context(), &log{}); !errors.As(err, &failed) || !strings.Contains(err.Error(), img.Name()) || !strings.Contains(err.Error(), "build once more") {
		t.Errorf("%v", err)
	}
	away := srv.Inject(e2btest.Fault{Path: statusPath, Status: 502, Body: "<html>", Times: 12})
	if err := img.Build(t.Context(), &log{}); err != nil {
		t.Errorf("after %d failures: %v", away.Hits(), err)
	}
}

// TestBuildLogShared checks that a log which several builds share is written to by one at a time.
func TestBuildLogShared(t *testing.T) {
	srv := e2btest.New(t, e2btest.Config{})
	b := on(srv)
	var plain bytes.Buffer // no writer for several goroutines
	b.BuildLog = &plain
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			own := b
			own.CPUs = 2 * (i + 1)
			if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), own), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(plain.String(), "FROM"); n != 3 {
		t.Errorf("%d builds are in the log: %s", n, &plain)
	}
}
