//go:build unix && !remotebox_runner

package daytonatest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestInjectedAnswers(t *testing.T) {
	c := newClient(t, Config{})
	limited := c.srv.Inject(Fault{Method: "POST", Path: "/sandbox", Status: 429, RetryAfter: 7, Throttler: "sandbox-create", Body: `{"message":"ThrottlerException: Too Many Requests"}`, Times: 2, Skip: 1})
	c.create(fields{"name": "first"})
	for range 2 {
		a := c.is(c.api("POST", "/sandbox", fields{}), 429, "Throttler")
		if a.header.Get("Retry-After-sandbox-create") != "7" {
			t.Errorf("headers %v", a.header)
		}
	}
	c.create(fields{})
	if n := limited.Struck(); n != 2 {
		t.Errorf("struck %d", n)
	}
	empty := c.srv.Inject(Fault{Plane: "toolbox", Status: 502, Times: -1})
	id := c.srv.Sandboxes()[0].ID
	for range 3 {
		if a := c.is(c.box(id, "GET", "/version", nil), 502); len(a.body) != 0 {
			t.Errorf("body %q", a.body)
		}
	}
	c.is(c.api("GET", "/sandbox/first", nil), 200) // another plane
	empty.Remove()
	c.is(c.box(id, "GET", "/version", nil), 200)
	c.srv.Inject(Fault{Match: func(r *http.Request) bool { return r.URL.Query().Get("limit") == "3" }, Status: 503, Body: `{"message":"maintenance"}`})
	c.is(c.api("GET", "/sandbox?limit=2", nil), 200)
	a := c.is(c.api("GET", "/sandbox?limit=3", nil), 503, "maintenance")
	if kind := a.header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("content type %q", kind)
	}
}

func TestResets(t *testing.T) {
	c := newClient(t, Config{})
	for _, tt := range []struct {
		when    Moment
		created bool
	}{{Before, false}, {After, true}} {
		name := fmt.Sprintf("moment-%d", tt.when)
		c.srv.Inject(Fault{Method: "POST", Path: "/sandbox", Reset: tt.when})
		a := c.api("POST", "/sandbox", fields{"name": name})
		if !errors.Is(a.err, syscall.ECONNRESET) {
			t.Errorf("%s: %d, %v, want a reset", name, a.status, a.err)
		}
		want := 404
		if tt.created {
			want = 200
		}
		c.is(c.api("GET", "/sandbox/"+name, nil), want)
	}
}

func TestCuts(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.is(c.box(id, "POST", "/files/upload-v2?path=f", io.LimitReader(zeros{}, 1<<20)), 200)
	c.srv.Inject(Fault{Path: "/files/download", Cut: 1000})
	a := c.box(id, "GET", "/files/download?path=f", nil)
	if a.err == nil || a.status != 200 || len(a.body) > 1000 {
		t.Errorf("%d, %d bytes, %v", a.status, len(a.body), a.err)
	}
	c.session(id, "s")
	cmd := c.async(id, "s", "seq 100000")
	c.srv.Inject(Fault{Path: "/logs", Cut: 5000})
	log, err := c.followSocket(c.ctx, id, "s", cmd, &websocket.DialOptions{})
	if websocket.CloseStatus(err) != -1 || len(log) == 0 || len(log) > 5000 {
		t.Errorf("%d bytes, %v", len(log), err)
	}
}

func TestSlowness(t *testing.T) {
	const slow = 150 * time.Millisecond
	c := newClient(t, Config{})
	id := c.create(fields{})
	timed := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	// The command has run while its answer is still on the way.
	c.srv.Inject(Fault{Path: "/process/execute", FirstByte: time.Minute})
	got := make(chan answer)
	go func() { got <- c.box(id, "POST", "/process/execute", fields{"command": "touch ran"}) }()
	c.poll("it has run", func() bool { return c.box(id, "GET", "/files/info?path=ran", nil).status == 200 })
	c.srv.Inject(Fault{Path: "/version", Delay: slow})
	if d := timed(func() { c.is(c.box(id, "GET", "/version", nil), 200) }); d < slow {
		t.Errorf("delayed by %v", d)
	}
	c.srv.Close()
	if a := <-got; a.err == nil {
		t.Errorf("answered %d", a.status)
	}
}

func TestLatency(t *testing.T) {
	c := newClient(t, Config{Latency: 100 * time.Millisecond})
	start := time.Now()
	c.is(c.api("GET", "/config", nil), 200)
	if d := time.Since(start); d < 100*time.Millisecond {
		t.Errorf("answered after %v", d)
	}
}

// Something happens to the sandbox at the moment when a request comes in.
func TestDo(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.srv.Inject(Fault{Path: "/process/execute", Do: func() {
		if err := c.srv.DeleteSandbox(id); err != nil {
			t.Error(err)
		}
	}})
	c.is(c.box(id, "POST", "/process/execute", fields{"command": "true"}), 401)
}

// The proxy replays a request whose upstream connection broke: the command runs twice, and the client sees success. It
// can't replay a chunked one, nor one that is too long.
func TestReplayingProxy(t *testing.T) {
	c := newClient(t, Config{ReplayingProxy: true})
	id := c.create(fields{})
	const command = "echo ran >> runs; wc -l < runs"
	long := command + "\n# " + strings.Repeat("x", 256<<10)
	for _, tt := range []struct {
		name    string
		command string
		chunked bool
		when    Moment
		status  int
		ran     int
	}{
		{"known length, lost after", command, false, After, 200, 2},
		{"known length, lost before", command, false, Before, 200, 1},
		{"chunked, lost after", command, true, After, 502, 1},
		{"chunked, lost before", command, true, Before, 502, 0},
		{"too long", long, false, After, 502, 1},
	} {
		c.execOK(id, ": > runs", "")
		c.srv.ForgetRequests()
		c.srv.Inject(Fault{Path: "/process/execute", Upstream: tt.when})
		body := strings.NewReader(fmt.Sprintf(`{"command":%q}`, tt.command))
		var a answer
		if tt.chunked {
			a = c.box(id, "POST", "/process/execute", io.MultiReader(body)) // whose length nobody knows
		} else {
			a = c.box(id, "POST", "/process/execute", body)
		}
		if a.status != tt.status || tt.status == 502 && len(a.body) != 0 {
			t.Errorf("%s: %d %s, want %d", tt.name, a.status, a.body, tt.status)
		}
		req := c.srv.Requests()[0]
		if req.Faults != 1 || (req.Length == -1) != tt.chunked {
			t.Errorf("%s: the log has %+v", tt.name, req)
		}
		c.execOK(id, "wc -l < runs", fmt.Sprintf("%d\n", tt.ran))
		if want := max(tt.ran, 0); req.Runs != want {
			t.Errorf("%s: processed %d times, want %d", tt.name, req.Runs, want)
		}
	}
	plain := newClientOf(t, c, Config{})
	id = plain.create(fields{})
	plain.srv.Inject(Fault{Path: "/process/execute", Upstream: After})
	plain.is(plain.box(id, "POST", "/process/execute", fields{"command": command}), 502)
	plain.execOK(id, "wc -l < runs", "1\n")
}

// newClientOf is a client of a second server in the same test.
func newClientOf(t *testing.T, c *client, cfg Config) *client {
	return &client{t: t, ctx: c.ctx, srv: New(t, cfg)}
}

func TestRequestLog(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.srv.ForgetRequests()
	c.is(c.box(id, "POST", "/files/upload-v2?path=f", bytes.NewReader([]byte("abc")), "X-Mine", "1"), 200)
	c.is(c.api("GET", "/sandbox/nobody", nil), 404)
	var log []Request
	c.poll("both are in the log", func() bool {
		log = c.srv.Requests()
		return len(log) == 2 && log[0].Status != 0 && log[1].Status != 0
	})
	r := log[0]
	if r.Plane != "toolbox" || r.Sandbox != id || r.Method != "POST" || r.Path != "/files/upload-v2" || r.Query.Get("path") != "f" ||
		r.Header.Get("X-Mine") != "1" || r.Header.Get("Authorization") != "" || r.Length != 3 || r.Read != 3 || r.Status != 200 || r.Written == 0 || r.Runs != 1 {
		t.Errorf("%+v", r)
	}
	if log[1].Plane != "api" || log[1].Status != 404 || log[1].Path != "/api/sandbox/nobody" {
		t.Errorf("%+v", log[1])
	}
	if n := c.srv.Count("POST", "/files/"); n != 1 {
		t.Errorf("count %d", n)
	}
}

// Many sandboxes at once live and die without a trace.
func TestManyAtOnce(t *testing.T) {
	c := newClient(t, Config{})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			for j := range 3 {
				name := fmt.Sprintf("box-%d-%d", i, j)
				a := c.api("POST", "/sandbox", fields{"name": name})
				if a.status != 200 {
					t.Errorf("create: %d %s %v", a.status, a.body, a.err)
					return
				}
				var sb struct{ ID string }
				if err := json.Unmarshal(a.body, &sb); err != nil {
					t.Error(err)
					return
				}
				a = c.box(sb.ID, "POST", "/process/execute", fields{"command": "echo " + name + " > f; cat f"})
				if a.status != 200 || !strings.Contains(string(a.body), name) {
					t.Errorf("exec: %d %s %v", a.status, a.body, a.err)
				}
				if a := c.api("DELETE", "/sandbox/"+name, nil); a.status != 200 {
					t.Errorf("delete: %d %s %v", a.status, a.body, a.err)
				}
			}
		})
	}
	wg.Wait()
	c.poll("all are gone", func() bool { return len(c.srv.Sandboxes()) == 0 })
}
