//go:build linux && !remotebox_runner

package e2b_test

import (
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

// TestBuildLogShared checks that a log which several builds share gets whole lines.
func TestBuildLogShared(t *testing.T) {
	srv := e2btest.New(t, e2btest.Config{})
	b := on(srv)
	shared := &pieces{}
	b.BuildLog = shared
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
	shared.mu.Lock()
	defer shared.mu.Unlock()
	begun := 0
	for _, p := range shared.all {
		if !strings.HasSuffix(p, "\n") {
			t.Errorf("a piece of a line: %q", p)
		}
		begun += strings.Count(p, "FROM")
	}
	if begun != 3 {
		t.Errorf("%d builds are in the log: %q", begun, shared.all)
	}
}

// pieces keeps what is written, write by write.
type pieces struct {
	mu  sync.Mutex
	all []string
}

func (p *pieces) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, string(b))
	return len(b), nil
}
