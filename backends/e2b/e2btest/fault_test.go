//go:build linux && !remotebox_runner

package e2btest_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// tryAPI is api for requests whose connection may break.
func (r *rig) tryAPI(method, path, body string) (reply, error) {
	r.Helper()
	return r.send(r.request(method, r.srv.APIURL()+path, body, "X-API-KEY", r.srv.Key, "Content-Type", "application/json"))
}

func TestInjectedAnswers(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	hit := r.srv.Inject(e2btest.TooManyRequests("7"))
	if a := r.api("GET", "/v2/sandboxes", ""); a.status != 429 || a.header.Get("Retry-After") != "7" || !strings.Contains(a.body, `"code":429`) {
		t.Errorf("limiter: %d %v %s", a.status, a.header, a.body)
	}
	r.want("GET", "/v2/sandboxes", "", 200, "") // once
	if hit.Hits() != 1 {
		t.Errorf("%d hits", hit.Hits())
	}
	r.srv.Inject(e2btest.TooManyRequests(""))
	if a := r.api("GET", "/v2/sandboxes", ""); a.status != 429 || a.header.Get("Retry-After") != "" || strings.Contains(a.body, "{") {
		t.Errorf("edge: %d %v %s", a.status, a.header, a.body)
	}
	always := r.srv.Inject(e2btest.Fault{Plane: e2btest.PlaneAPI, Method: "POST", Path: "/sandboxes", Skip: 1, Times: -1, Status: 503})
	b := r.create("")
	for range 3 {
		if a := r.api("POST", "/sandboxes", `{"templateID":"base"}`); a.status != 503 || a.body != "" {
			t.Errorf("%d %q, want an empty 503", a.status, a.body)
		}
	}
	r.want("GET", "/sandboxes/"+b.id, "", 200, "") // of another path
	always.Remove()
	r.create("")
	if n := len(r.srv.Sandboxes()); n != 2 {
		t.Errorf("%d sandboxes, want 2: a fault with a status handles nothing", n)
	}
}

func TestResets(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	reset := func(point e2btest.Reset, want int) {
		r.srv.Inject(e2btest.Fault{Method: "POST", Path: "/sandboxes", Reset: point})
		_, err := r.tryAPI("POST", "/sandboxes", `{"templateID":"base","metadata":{"request":"7"}}`)
		if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("reset %d: %v", point, err)
		}
		if boxes := r.srv.Sandboxes(); len(boxes) != want {
			t.Errorf("reset %d: %d sandboxes, want %d", point, len(boxes), want)
		}
	}
	reset(e2btest.ResetBefore, 0)
	reset(e2btest.ResetAfter, 1) // made, and its answer lost
	r.want("GET", "/v2/sandboxes?metadata=request%3D7", "", 200, r.srv.Sandboxes()[0].ID)
}

func TestCutStream(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	b.run("head -c 100000 /dev/zero | tr '\\0' x >file")
	hit := b.srv.Inject(e2btest.Fault{Plane: e2btest.PlaneSandbox, SandboxID: b.id, Path: "/files", CutAfter: 5000})
	a, err := b.tryEnvd("GET", "/files?path=file", "", "Accept-Encoding", "identity")
	if err == nil || len(a.body) != 5000 || hit.Hits() != 1 {
		t.Errorf("%d bytes, %v; want 5000 and an error", len(a.body), err)
	}
	b.srv.Inject(e2btest.Fault{Path: "/process.Process/Start", CutAfter: 60})
	p := b.start("echo up; sleep 1000")
	for p.next() != nil {
	}
	if p.stream.Err() == nil {
		t.Error("the stream has an end")
	}
	if err := b.signal(p.pid, 9); err != nil {
		t.Errorf("the process went with its stream: %v", err)
	}
}

func TestLatencyAndRequests(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	b := r.create(`"metadata":{"a":"1"}`)
	r.srv.SetLatency(50 * time.Millisecond)
	r.srv.Inject(e2btest.Fault{Path: "/health", Delay: 100 * time.Millisecond})
	begin := time.Now()
	b.envd("GET", "/health", "")
	if took := time.Since(begin); took < 150*time.Millisecond {
		t.Errorf("took %v, want the latency and the delay", took)
	}
	r.srv.SetLatency(0)
	list := r.srv.Requests()
	if len(list) != 2 {
		t.Fatalf("%d requests: %v", len(list), list)
	}
	if q := list[0]; q.Plane != e2btest.PlaneAPI || q.Method != "POST" || q.Path != "/sandboxes" || q.Status != 201 || !strings.Contains(string(q.Body), `"a":"1"`) {
		t.Errorf("%+v", q)
	}
	if q := list[1]; q.Plane != e2btest.PlaneSandbox || q.SandboxID != b.id || q.Path != "/health" || q.Status != 204 {
		t.Errorf("%+v", q)
	}
	r.srv.ResetRequests()
	r.want("DELETE", "/sandboxes/"+b.id, "", 204, "")
	if list := r.srv.Requests(); len(list) != 1 || list[0].SandboxID != b.id {
		t.Errorf("%v", list)
	}
}

// TestUnaware checks that requests are handled although their clients have left.
func TestUnaware(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	for want, f := range []e2btest.Fault{
		{Method: "POST", Path: "/sandboxes", Delay: 200 * time.Millisecond},
		{Method: "POST", Path: "/sandboxes", Delay: 200 * time.Millisecond, Unaware: true},
		{Method: "POST", Path: "/sandboxes", Delay: 200 * time.Millisecond, Reset: e2btest.ResetMeanwhile},
	} {
		hit := r.srv.Inject(f)
		ctx, cancel := context.WithCancel(r.ctx)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			req := r.request("POST", r.srv.APIURL()+"/sandboxes", `{"templateID":"base"}`, "X-API-KEY", r.srv.Key, "Content-Type", "application/json")
			if a, err := r.send(req.WithContext(ctx)); err == nil {
				t.Errorf("%+v: %d", f, a.status)
			}
		}()
		for hit.Hits() == 0 {
			runtime.Gosched()
		}
		cancel()
		<-gone
		hit.Wait()
		if n := len(r.srv.Sandboxes()); n != want {
			t.Errorf("%+v: %d sandboxes, want %d", f, n, want)
		}
	}
}
