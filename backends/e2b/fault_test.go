//go:build linux && !remotebox_runner

package e2b_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/backendtest"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
)

// faults are the kinds of faults, each for some requests.
func faults() map[string]e2btest.Fault {
	create := e2btest.Fault{Plane: e2btest.PlaneAPI, Method: http.MethodPost, Path: "/sandboxes"}
	kill := e2btest.Fault{Plane: e2btest.PlaneAPI, Method: http.MethodDelete}
	run := e2btest.Fault{Plane: e2btest.PlaneSandbox, Path: start[len("POST "):]}
	put := e2btest.Fault{Plane: e2btest.PlaneSandbox, Method: http.MethodPost, Path: "/files"}
	get := e2btest.Fault{Plane: e2btest.PlaneSandbox, Method: http.MethodGet, Path: "/files"}
	all := map[string]e2btest.Fault{}
	for name, where := range map[string]e2btest.Fault{"create": create, "kill": kill, "run": run, "put": put, "get": get} {
		status := func(what string, code int, body string, header http.Header) {
			f := where
			f.Status, f.Body, f.Header = code, body, header
			all[name+"/"+what] = f
		}
		status("429 with a wait", 429, `{"code":429,"message":"Rate limit exceeded"}`, http.Header{"Retry-After": {"0"}})
		status("429 without", 429, "Too Many Requests", nil)
		status("503", 503, `{"code":503,"error_code":"sandbox_capacity_unavailable","message":"not enough capacity"}`, nil)
		status("502 of a load balancer", 502, "<html>502 Bad Gateway</html>", nil)
		status("500 empty", 500, "", nil)
		for what, effect := range map[string]func(*e2btest.Fault){
			"reset before": func(f *e2btest.Fault) { f.Reset = e2btest.ResetBefore },
			"reset after":  func(f *e2btest.Fault) { f.Reset = e2btest.ResetAfter },
			"cut":          func(f *e2btest.Fault) { f.CutAfter = 40 },
			"no body":      func(f *e2btest.Fault) { f.CutAfter = -1 },
			"slow":         func(f *e2btest.Fault) { f.Delay = 300 * time.Millisecond },
		} {
			f := where
			effect(&f)
			all[name+"/"+what] = f
		}
	}
	flicker := run
	flicker.Status, flicker.Body = 502, `{"sandboxId":"x","message":"The sandbox was not found","code":502}`
	all["run/not found for a moment"] = flicker
	closed := run
	closed.Status, closed.Body = 502, `{"sandboxId":"x","message":"The sandbox is running but port is not open","port":49983,"code":502}`
	all["run/port not open for a moment"] = closed
	late := run
	late.CutAfter = 600 // in the middle of a result
	all["run/cut in the result"] = late
	far := get
	far.CutAfter = 100_000
	all["get/cut in the middle"] = far
	return all
}

// TestFaults injects faults of each kind into calls, and checks that none is lost, none runs twice
// and no sandbox is left. REMOTE_BOX_FAULTS says how many of each kind.
func TestFaults(t *testing.T) {
	t.Parallel()
	times, err := strconv.Atoi(os.Getenv("REMOTE_BOX_FAULTS"))
	if err != nil {
		times = 2
	}
	kinds := faults()
	names := slices.Sorted(maps.Keys(kinds))
	const servers = 4
	for part := range servers {
		t.Run(strconv.Itoa(part), func(t *testing.T) {
			t.Parallel()
			srv, b := serve(t, e2btest.Config{MaxSandboxes: -1})
			for i := part; i < len(names); i += servers {
				t.Run(names[i], func(t *testing.T) {
					hits := 0
					for n := range times {
						hits += oneFault(t, srv, b, names[i], kinds[names[i]], n)
					}
					if hits != times {
						t.Errorf("%d of %d faults hit", hits, times)
					}
					none(t, srv)
				})
			}
		})
	}
}

// oneFault makes calls through one fault, and returns how often it hit.
func oneFault(t *testing.T, srv *e2btest.Server, b remote.Backend, name string, f e2btest.Fault, i int) int {
	key := fmt.Sprintf("k%d", i)
	where, _, _ := strings.Cut(name, "/")
	s := remote.NewSession(b)
	ctx := s.Context(t.Context())
	if where != "create" {
		if err := s.Start(ctx); err != nil {
			t.Error(err)
			return 0
		}
	}
	fault := srv.Inject(f)
	defer fault.Remove()
	switch where {
	case "put":
		if n, err := testfunc.Size.Call(ctx, strings.Repeat("x", 200_000)); err != nil || n != 200_000 {
			t.Errorf("%d, %v", n, err)
		}
	case "get":
		if text, err := testfunc.Fill.Call(ctx, 200_000); err != nil || len(text) != 200_000 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	default:
		if n, err := testfunc.Once.Call(ctx, key); err != nil || n != 1 {
			t.Errorf("lost: %d, %v", n, err)
		}
		if n, err := testfunc.Runs.Call(ctx, key); err != nil || n != 1 {
			t.Errorf("it ran %d times, %v", n, err)
		}
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	return fault.Hits()
}

// TestConformanceWithFaults holds the backend to the whole contract while requests of all kinds meet
// faults that pass.
func TestConformanceWithFaults(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{MaxSandboxes: -1})
	var injected []*e2btest.Injection
	kinds := faults()
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		if strings.HasSuffix(name, "slow") {
			continue
		}
		f := kinds[name]
		for n := range 4 {
			f.Skip = 3 + len(injected)%5 + 9*n
			injected = append(injected, srv.Inject(f))
		}
	}
	env := map[string]string{"SOME_VARIABLE": "some value\nin two lines"}
	b.Env = env
	backendtest.Run(t, func(testing.TB) backendtest.Config {
		return backendtest.Config{
			Backend: b, Env: env, Hidden: []string{srv.Key},
			Skip: map[string]string{
				"exec": "Exec is never repeated: a fault is its error", "exec/canceled": "the same",
			},
		}
	})
	hits := 0
	for _, i := range injected {
		hits += i.Hits()
	}
	t.Logf("%d faults hit", hits)
	if hits < len(injected)/4 {
		t.Errorf("only %d faults hit", hits)
	}
	none(t, srv)
}
