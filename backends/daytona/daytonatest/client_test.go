//go:build unix && !remotebox_runner

package daytonatest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// client speaks to a server as a program would. Its context is the watchdog of the test.
type client struct {
	t   *testing.T
	ctx context.Context
	srv *Server
}

type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// fields is a JSON object.
type fields = map[string]any

func newClient(t *testing.T, cfg Config) *client {
	t.Helper()
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return &client{t: t, ctx: ctx, srv: New(t, cfg)}
}

// send sends body as JSON, or as it is when it is a reader; header is names and values.
func (c *client) send(ctx context.Context, method, url string, body any, header ...string) answer {
	var r io.Reader
	kind := "application/json"
	switch body := body.(type) {
	case nil:
	case io.Reader:
		r, kind = body, "application/octet-stream"
	default:
		data, err := json.Marshal(body)
		if err != nil {
			return answer{err: err}
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, r)
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Authorization", "Bearer "+c.srv.Key)
	req.Header.Set("Content-Type", kind)
	for i := 0; i+1 < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: data, err: err}
}

func (c *client) api(method, path string, body any, header ...string) answer {
	return c.send(c.ctx, method, c.srv.APIURL()+path, body, header...)
}

func (c *client) box(id, method, path string, body any, header ...string) answer {
	return c.send(c.ctx, method, c.srv.ToolboxURL()+"/"+id+path, body, header...)
}

// is fails the test unless the answer has the status, and all of the words in its body.
func (c *client) is(a answer, status int, words ...string) answer {
	c.t.Helper()
	if a.err != nil || a.status != status {
		c.t.Fatalf("status %d, error %v, want status %d: %s", a.status, a.err, status, a.body)
	}
	for _, word := range words {
		if !strings.Contains(string(a.body), word) {
			c.t.Fatalf("the body lacks %q: %s", word, a.body)
		}
	}
	return a
}

func (c *client) object(a answer) fields {
	c.t.Helper()
	var v fields
	if err := json.Unmarshal(a.body, &v); err != nil {
		c.t.Fatalf("%v: %s", err, a.body)
	}
	return v
}

// create creates a sandbox and waits for it to start.
func (c *client) create(body fields) string {
	c.t.Helper()
	id := c.object(c.is(c.api("POST", "/sandbox", body), 200))["id"].(string)
	c.wait(id, "started")
	return id
}

// wait waits for a sandbox's state; "destroyed" is its being gone.
func (c *client) wait(id, state string) {
	c.t.Helper()
	last := ""
	ok := c.srv.await(c.ctx, 20*time.Second, func() bool {
		sb, err := c.srv.find(id)
		if err != nil {
			return state == "destroyed"
		}
		last = sb.state + " " + sb.reason
		return sb.state == state
	})
	if !ok {
		c.t.Fatalf("the sandbox did not become %s: it is %s", state, last)
	}
}

func (c *client) waitSnapshot(name, state string) Snapshot {
	c.t.Helper()
	var got Snapshot
	ok := c.srv.await(c.ctx, 20*time.Second, func() bool {
		sn, err := c.srv.findSnapshot(name)
		if err != nil {
			return state == "gone"
		}
		got = Snapshot{ID: sn.id, Name: sn.name, State: sn.state, ErrorReason: sn.reason}
		return sn.state == state
	})
	if !ok {
		c.t.Fatalf("the snapshot did not become %s: it is %s: %s", state, got.State, got.ErrorReason)
	}
	return got
}

// exec runs a command and returns its exit code and output.
func (c *client) exec(id, command string) (int, string) {
	c.t.Helper()
	v := c.object(c.is(c.box(id, "POST", "/process/execute", fields{"command": command}), 200))
	return int(v["exitCode"].(float64)), v["result"].(string)
}

func (c *client) execOK(id, command, want string) {
	c.t.Helper()
	if code, out := c.exec(id, command); code != 0 || out != want {
		c.t.Fatalf("%s: exit code %d, output %q, want %q", command, code, out, want)
	}
}

// poll repeats a request until ok, for what no state of the server tells.
func (c *client) poll(what string, ok func() bool) {
	c.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			c.t.Fatalf("%s: not within the time limit", what)
		}
	}
}
