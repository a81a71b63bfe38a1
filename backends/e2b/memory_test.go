//go:build linux && !remotebox_runner

package e2b_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
	"github.com/remote-box/remote/driver"
)

// TestFilesStream checks that files pass through in pieces: no side holds one in memory.
func TestFilesStream(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	k := &keeper{Backend: b}
	s := remote.NewSession(k)
	defer s.Close(t.Context())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := k.sb.(driver.Files)
	const size = 64 << 20
	before := allocated()
	if err := files.WriteFile(t.Context(), "/tmp/deep/er/big", io.LimitReader(zeros{}, size)); err != nil {
		t.Fatal(err)
	}
	r, err := files.ReadFile(t.Context(), "/tmp/deep/er/big")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if err != nil || n != size {
		t.Fatalf("%d bytes, %v", n, err)
	}
	// The server's part is counted too.
	if used := allocated() - before; used > size/4 {
		t.Errorf("%d bytes were allocated for a file of %d there and back", used, size)
	}
	// One that breaks is taken up where it was, not begun anew.
	srv.ResetRequests()
	srv.Inject(e2btest.Fault{Method: http.MethodGet, Path: "/files", CutAfter: size / 2})
	again, err := files.ReadFile(t.Context(), "/tmp/deep/er/big")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n, err := io.Copy(io.Discard, again); err != nil || n != size {
		t.Errorf("%d bytes of a broken transfer, %v", n, err)
	}
	if r := srv.Requests(); len(r) != 2 || !strings.HasPrefix(r[1].Header.Get("Range"), "bytes=") {
		t.Errorf("%v", requests(srv))
	}
	if _, err := files.ReadFile(t.Context(), "/tmp/none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	broken := errors.New("broken source")
	if err := files.WriteFile(t.Context(), "/tmp/broken", io.MultiReader(strings.NewReader("x"), failing{broken})); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// allocated is how much has been allocated so far, freed or not.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestResultTooLarge checks that a result over the limit is not even fetched, and that none leaves
// files behind.
func TestResultTooLarge(t *testing.T) {
	tmp := t.TempDir()
	_, b := serve(t, e2btest.Config{})
	ctx, _ := session(t, b)
	t.Setenv("TMPDIR", tmp)
	if text, err := testfunc.Fill.Call(ctx, 100_000); err != nil || len(text) != 100_000 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	var p *remote.ProtocolError
	if _, err := testfunc.Limited.Call(ctx, 100_000); !errors.As(err, &p) || !strings.Contains(p.Reason, "limit") {
		t.Errorf("%v", err)
	}
	left, err := filepath.Glob(filepath.Join(tmp, "remote-box-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// BenchmarkLargeResult has a result of 256 MiB arrive; RSS says how much memory this process and
// its server had at most.
func BenchmarkLargeResult(b *testing.B) {
	_, backend := serve(b, e2btest.Config{})
	s := remote.NewSession(backend)
	defer s.Close(context.Background())
	ctx := s.Context(b.Context())
	b.SetBytes(256 << 20)
	for b.Loop() {
		if text, err := testfunc.Fill.Call(ctx, 256<<20); err != nil || len(text) != 256<<20 {
			b.Fatal(len(text), err)
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			b.Log(strings.TrimSpace(line))
		}
	}
}
