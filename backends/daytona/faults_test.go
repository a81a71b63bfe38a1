package daytona_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
)

// faultCount is how many faults of each kind are injected: few, or what REMOTE_BOX_FAULTS says.
func faultCount(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("REMOTE_BOX_FAULTS"))
	if err != nil {
		n = 3
	}
	return n
}

// faultKind is one thing that goes wrong, with what is done meanwhile.
type faultKind struct {
	name   string
	fault  daytonatest.Fault
	fresh  bool // calls in sandboxes of their own
	large  bool // calls with large inputs and results
	direct bool // calls as commands of their own
}

func faultKinds() []faultKind {
	json := `{"statusCode":500,"message":"Internal server error"}`
	return []faultKind{
		{name: "create/429", fresh: true, fault: daytonatest.Fault{Method: "POST", Path: "/api/sandbox", Status: 429, RetryAfter: 1, Throttler: "sandbox-create"}},
		{name: "create/503", fresh: true, fault: daytonatest.Fault{Method: "POST", Path: "/api/sandbox", Status: 503}},
		{name: "create/500", fresh: true, fault: daytonatest.Fault{Method: "POST", Path: "/api/sandbox", Status: 500, Body: json}},
		{name: "create/reset before", fresh: true, fault: daytonatest.Fault{Method: "POST", Path: "/api/sandbox", Reset: daytonatest.Before}},
		{name: "create/answer lost", fresh: true, fault: daytonatest.Fault{Method: "POST", Path: "/api/sandbox", Reset: daytonatest.After}},
		{name: "delete/answer lost", fresh: true, fault: daytonatest.Fault{Method: "DELETE", Path: "/api/sandbox", Reset: daytonatest.After}},
		{name: "delete/409", fresh: true, fault: daytonatest.Fault{Method: "DELETE", Path: "/api/sandbox", Status: 409, Body: `{"message":"Sandbox state change in progress"}`}},
		{name: "delete/500", fresh: true, fault: daytonatest.Fault{Method: "DELETE", Path: "/api/sandbox", Status: 500, Body: json}},
		{name: "session/502", fresh: true, fault: daytonatest.Fault{Plane: "toolbox", Method: "POST", Path: "/process/session", Status: 502}},
		{name: "session/not started", fresh: true, fault: daytonatest.Fault{Plane: "toolbox", Method: "POST", Path: "/process/session", Status: 400, Body: `{"message":"no IP address found. Is the Sandbox started?"}`}},
		{name: "exec/answer lost", direct: true, fault: daytonatest.Fault{Plane: "toolbox", Method: "POST", Path: "/exec", Reset: daytonatest.After}},
		{name: "exec/replay", direct: true, fault: daytonatest.Fault{Plane: "toolbox", Method: "POST", Path: "/exec", Upstream: daytonatest.After}},
		{name: "exec/upstream", direct: true, fault: daytonatest.Fault{Plane: "toolbox", Method: "POST", Path: "/exec", Upstream: daytonatest.Before}},
		{name: "input/reset before", fault: daytonatest.Fault{Plane: "toolbox", Path: "/input", Reset: daytonatest.Before}},
		{name: "input/answer lost", fault: daytonatest.Fault{Plane: "toolbox", Path: "/input", Reset: daytonatest.After}},
		{name: "input/replay", fault: daytonatest.Fault{Plane: "toolbox", Path: "/input", Upstream: daytonatest.After}},
		{name: "input/429", fault: daytonatest.Fault{Plane: "toolbox", Path: "/input", Status: 429, RetryAfter: 1}},
		{name: "input/502", fault: daytonatest.Fault{Plane: "toolbox", Path: "/input", Status: 502}},
		{name: "log/refused", fresh: true, fault: daytonatest.Fault{Plane: "toolbox", Path: "/logs", Status: 502}},
		{name: "exec/500", direct: true, fault: daytonatest.Fault{Plane: "toolbox", Method: "POST", Path: "/exec", Status: 500, Body: json}},
		{name: "log/cut early", direct: true, fault: daytonatest.Fault{Plane: "toolbox", Path: "/logs", Cut: 400}},
		{name: "log/cut late", direct: true, fault: daytonatest.Fault{Plane: "toolbox", Path: "/logs", Cut: 900}},
		{name: "upload/reset", large: true, fault: daytonatest.Fault{Plane: "toolbox", Path: "/files/bulk-upload", Reset: daytonatest.Before}},
		{name: "upload/502", large: true, fault: daytonatest.Fault{Plane: "toolbox", Path: "/files/bulk-upload", Status: 502}},
		{name: "download/cut", large: true, fault: daytonatest.Fault{Plane: "toolbox", Path: "/files/download", Cut: 50_000}},
		{name: "download/502", large: true, fault: daytonatest.Fault{Plane: "toolbox", Path: "/files/download", Status: 502}},
	}
}

// TestFaults injects faults of each kind into every other request of theirs. No call may be lost
// or run twice, and no sandbox may be left.
func TestFaults(t *testing.T) {
	want := faultCount(t)
	srv, b := serve(t, daytonatest.Config{ReplayingProxy: true})
	for _, kind := range faultKinds() {
		t.Run(kind.name, func(t *testing.T) {
			calls, lost, twice := campaign(t, srv, b, kind, want)
			if lost > 0 || twice > 0 {
				t.Errorf("%d calls: %d were lost, %d ran twice", calls, lost, twice)
			}
			none(t, srv)
		})
	}
}

// campaign makes calls until want faults have struck.
func campaign(t *testing.T, srv *daytonatest.Server, b daytona.Backend, kind faultKind, want int) (calls, lost, twice int) {
	var seen, struck atomic.Int64
	fault := kind.fault
	fault.Times = -1
	exact := strings.HasSuffix(fault.Path, "/sandbox") && fault.Method == "POST" || fault.Path == "/process/session"
	fault.Match = func(r *http.Request) bool {
		if exact && !strings.HasSuffix(r.URL.Path, fault.Path) || seen.Add(1)%2 == 0 {
			return false
		}
		return struck.Add(1) <= int64(want)
	}
	ctx := t.Context()
	if kind.direct {
		b = daytona.Direct(b)
	}
	if !kind.fresh {
		s := remote.NewSession(b, remote.Concurrency(4))
		defer s.Close(context.WithoutCancel(ctx))
		ctx = s.Context(ctx)
	} else {
		ctx = remote.WithBackend(ctx, b)
	}
	if _, err := testfunc.Size.Call(ctx, "warm"); err != nil {
		t.Fatal(err)
	}
	in := srv.Inject(fault)
	defer in.Remove()
	var mu sync.Mutex
	for round := 0; struck.Load() < int64(want) && round < 10*want; round++ {
		var wg sync.WaitGroup
		for i := range min(4, want) {
			wg.Go(func() {
				n, err := call(ctx, kind, fmt.Sprintf("%d-%d", round, i))
				mu.Lock()
				defer mu.Unlock()
				calls++
				if err != nil {
					lost++
					t.Errorf("a call was lost: %v", err)
				} else if n != 1 {
					twice++
				}
			})
		}
		wg.Wait()
		for i := 0; i < min(4, want) && !kind.fresh && !kind.large; i++ {
			n, err := testfunc.Runs.Call(ctx, fmt.Sprintf("%d-%d", round, i))
			if err != nil {
				t.Errorf("asking how often a call ran: %v", err)
			} else if n != 1 {
				twice++
			}
		}
	}
	if struck.Load() < int64(want) {
		t.Errorf("only %d faults have struck", struck.Load())
	}
	return calls, lost, twice
}

// call makes one call and tells how often it has run, as far as can be seen.
func call(ctx context.Context, kind faultKind, name string) (int, error) {
	if !kind.large {
		return testfunc.Count.Call(ctx, name)
	}
	const size = 200_000
	if n, err := testfunc.Size.Call(ctx, strings.Repeat("x", size)); err != nil || n != size {
		return 0, fmt.Errorf("%d bytes arrived: %w", n, err)
	}
	if text, err := testfunc.Fill.Call(ctx, size); err != nil || len(text) != size {
		return 0, fmt.Errorf("%d bytes came back: %w", len(text), err)
	}
	return 1, nil
}
