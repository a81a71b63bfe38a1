//go:build linux && !remotebox_runner

package daytonatest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// terminal connects to a terminal, sends what is typed and returns what was printed, the control messages apart, and the end.
func (c *client) terminal(ctx context.Context, url, typed string, protocols ...string) (printed, control string, err error) {
	c.t.Helper()
	conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(url, "http"), &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + c.srv.Key}}, Subprotocols: protocols,
	})
	if err != nil {
		return "", "", err
	}
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageBinary, []byte(typed)); err != nil {
		return "", "", err
	}
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			return printed, control, err
		}
		if kind == websocket.MessageText {
			control += string(data)
		} else {
			printed += string(data)
		}
	}
}

func TestTerminal(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	base := c.srv.ToolboxURL() + "/" + id + "/process/pty"
	c.is(c.box(id, "POST", "/process/pty", fields{"id": "p", "cols": 90, "rows": 20, "envs": fields{"WORD": "w"}, "lazyStart": true}), 201)
	c.is(c.box(id, "POST", "/process/pty", fields{"id": "p"}), 409)
	c.is(c.box(id, "POST", "/process/pty", fields{}), 400)
	c.is(c.box(id, "GET", "/process/pty/p", nil), 200, `"active":false`)
	c.is(c.box(id, "GET", "/process/pty", nil), 200, `"id":"p"`)
	c.is(c.box(id, "POST", "/process/pty/p/resize", fields{"cols": 1001, "rows": 1}), 400)
	printed, control, err := c.terminal(c.ctx, base+"/p/connect", "stty size; test -t 0 && echo \"terminal $WORD\"; exit 6\n", exitProtocol)
	if !strings.Contains(printed, "20 90\r\n") || !strings.Contains(printed, "\nterminal w\r\n") {
		t.Errorf("printed %q", printed)
	}
	if !strings.Contains(control, `"connected"`) || !strings.Contains(control, `"exitCode":6`) || !strings.Contains(control, `"exited"`) {
		t.Errorf("control messages %s", control)
	}
	var closed websocket.CloseError
	if !errors.As(err, &closed) || closed.Code != websocket.StatusNormalClosure || closed.Reason != `{"exitCode":6}` {
		t.Errorf("closed with %v", err)
	}
	c.is(c.box(id, "POST", "/process/pty/p/resize", fields{"cols": 10, "rows": 10}), 410)
	c.is(c.box(id, "DELETE", "/process/pty/p", nil), 200)
	c.is(c.box(id, "GET", "/process/pty/p", nil), 404)

	// One that is deleted ends for who is connected.
	c.is(c.box(id, "POST", "/process/pty", fields{"id": "q"}), 201)
	type end struct {
		printed string
		err     error
	}
	got := make(chan end)
	go func() {
		printed, _, err := c.terminal(c.ctx, base+"/q/connect", "touch typed; sleep 300\n")
		got <- end{printed, err}
	}()
	c.poll("it was typed", func() bool { return c.box(id, "GET", "/files/info?path=typed", nil).status == 200 })
	c.is(c.box(id, "DELETE", "/process/pty/q", nil), 200)
	if e := <-got; websocket.CloseStatus(e.err) != websocket.StatusNormalClosure {
		t.Errorf("%q %v", e.printed, e.err)
	}
	if _, _, err := c.terminal(c.ctx, base+"/create-connect?id=r", "exit\n", envsProtocol+"!"); err == nil {
		t.Error("a broken environment was accepted")
	}
}
