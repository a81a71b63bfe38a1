//go:build unix && !remotebox_runner

package daytonatest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func (c *client) session(id, name string) {
	c.t.Helper()
	c.is(c.box(id, "POST", "/process/session", fields{"sessionId": name}), 201)
}

func (c *client) async(id, name, command string) string {
	c.t.Helper()
	return c.object(c.is(c.box(id, "POST", "/process/session/"+name+"/exec", fields{"command": command, "runAsync": true}), 202))["cmdId"].(string)
}

func (c *client) exitOf(id, name, cmd string) any {
	c.t.Helper()
	return c.object(c.is(c.box(id, "GET", "/process/session/"+name+"/command/"+cmd, nil), 200))["exitCode"]
}

const sdkVersion = "X-Daytona-SDK-Version"

// followSocket reads a followed log to its end and returns it, and how it was closed.
func (c *client) followSocket(ctx context.Context, id, name, cmd string, opts *websocket.DialOptions) (string, error) {
	c.t.Helper()
	if opts.HTTPHeader == nil {
		opts.HTTPHeader = http.Header{}
	}
	opts.HTTPHeader.Set("Authorization", "Bearer "+c.srv.Key)
	url := "ws" + strings.TrimPrefix(c.srv.ToolboxURL(), "http") + "/" + id + "/process/session/" + name + "/command/" + cmd + "/logs?follow=true"
	conn, _, err := websocket.Dial(ctx, url, opts)
	if err != nil {
		return "", err
	}
	defer conn.CloseNow()
	var log strings.Builder
	for {
		kind, data, err := conn.Read(ctx)
		if err != nil {
			return log.String(), err
		}
		if kind != websocket.MessageBinary {
			c.t.Errorf("a frame of kind %v", kind)
		}
		log.Write(data)
	}
}

func TestSession(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.session(id, "s")
	c.is(c.box(id, "POST", "/process/session", fields{"sessionId": "s"}), 409)
	c.is(c.box(id, "POST", "/process/session", fields{}), 400)
	c.is(c.box(id, "POST", "/process/session/s/exec", fields{"command": " "}), 400)
	c.is(c.box(id, "POST", "/process/session/x/exec", fields{"command": "true"}), 404)
	sync := func(command string) fields {
		t.Helper()
		return c.object(c.is(c.box(id, "POST", "/process/session/s/exec", fields{"command": command}), 200))
	}
	// State persists, and commands come one after another.
	first := c.async(id, "s", "A=kept; cd /; sleep 0.2")
	got := sync("echo $A $PWD; echo bad >&2; (exit 3)")
	if got["stdout"] != "kept /\n" || got["stderr"] != "bad\n" || got["exitCode"] != 3.0 {
		t.Errorf("got %v", got)
	}
	if code := c.exitOf(id, "s", first); code != 0.0 {
		t.Errorf("the command before has exit code %v", code)
	}
	// What ends by a signal has 128 + n. NUL bytes vanish, and a line that does not end is ended.
	got = sync(`printf 'a\0b\nc'`)
	if got["output"] != "ab\nc\n" {
		t.Errorf("got %v", got)
	}
	if got = sync("sh -c 'kill -9 $$'"); got["exitCode"] != 137.0 {
		t.Errorf("got %v", got)
	}
	// A mark can be forged.
	got = sync(`printf 'x\002\002\002y\n'`)
	if got["stdout"] != "x" || got["stderr"] != "y\n" {
		t.Errorf("got %v", got)
	}
	// A process that holds the output does not hold the command up.
	got = sync("sleep 300 & echo on")
	if got["output"] != "on\n" {
		t.Errorf("got %v", got)
	}
	c.is(c.box(id, "GET", "/process/session", nil), 200, `"sessionId":"s"`)
	c.is(c.box(id, "GET", "/process/session/s", nil), 200, first)
	c.is(c.box(id, "GET", "/process/session/s/command/none", nil), 404)

	// Sessions are lost when the sandbox stops.
	c.is(c.api("POST", "/sandbox/"+id+"/stop", nil), 200)
	c.wait(id, "stopped")
	c.is(c.api("POST", "/sandbox/"+id+"/start", nil), 200)
	c.wait(id, "started")
	c.is(c.box(id, "GET", "/process/session/s", nil), 404)
}

// A command is sourced: its exit is the shell's. The exit code is never known, and the session is dead.
func TestBareExitKillsTheSession(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.session(id, "s")
	cmd := c.async(id, "s", "echo bye; exit 3")
	c.poll("the session is dead", func() bool {
		return c.box(id, "POST", "/process/session/s/exec", fields{"command": "true", "runAsync": true}).status == 500
	})
	if code := c.exitOf(id, "s", cmd); code != nil {
		t.Errorf("exit code %v", code)
	}
	c.session(id, "sync")
	ctx, cancel := context.WithTimeout(c.ctx, 200*time.Millisecond)
	defer cancel()
	a := c.send(ctx, "POST", c.srv.ToolboxURL()+"/"+id+"/process/session/sync/exec", fields{"command": "exit 3"})
	if a.err == nil {
		t.Errorf("a synchronous exit was answered: %d %s", a.status, a.body)
	}
	c.is(c.box(id, "DELETE", "/process/session/s", nil), 204)
}

func TestLogForms(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.session(id, "s")
	cmd := c.async(id, "s", "echo o; sleep 0.1; echo e >&2")
	path := "/process/session/s/command/" + cmd + "/logs"
	const marked = "\x01\x01\x01o\n\x02\x02\x02e\n"

	log, err := c.followSocket(c.ctx, id, "s", cmd, &websocket.DialOptions{HTTPHeader: http.Header{sdkVersion: {"0.216.0"}}})
	if log != marked || websocket.CloseStatus(err) != websocket.StatusNormalClosure {
		t.Errorf("followed %q, %v", log, err)
	}
	if code := c.exitOf(id, "s", cmd); code != 0.0 {
		t.Errorf("exit code %v", code)
	}
	log, _ = c.followSocket(c.ctx, id, "s", cmd, &websocket.DialOptions{Subprotocols: []string{"X-Daytona-SDK-Version~0.170.0"}})
	if log != marked {
		t.Errorf("by subprotocol: %q", log)
	}
	log, _ = c.followSocket(c.ctx, id, "s", cmd, &websocket.DialOptions{HTTPHeader: http.Header{sdkVersion: {"0.166.0"}}})
	if log != "o\ne\n" {
		t.Errorf("for an old client: %q", log)
	}
	for _, tt := range []struct{ query, header, value, want string }{
		{"", "X-None", "", "o\ne\n"},
		{"", sdkVersion, "0.167.0", `{"output":"o\ne\n","stderr":"e\n","stdout":"o\n"}` + "\n"},
		{"", sdkVersion, "0.166.9", "o\ne\n"},
		{"", "X-Daytona-Split-Output", "true", marked},
		{"?follow=true", "X-None", "", "o\ne\n"},
		{"?follow=true", "X-Daytona-Split-Output", "true", marked},
	} {
		if a := c.is(c.box(id, "GET", path+tt.query, nil, tt.header, tt.value), 200); string(a.body) != tt.want {
			t.Errorf("%+v: %q", tt, a.body)
		}
	}
}

// The end of a followed log is no success: it ends in the same way when the session is deleted or the sandbox stops.
func TestFollowEndsWithTheSession(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	for name, end := range map[string]func(){
		"deleted": func() { c.is(c.box(id, "DELETE", "/process/session/deleted", nil), 204) },
		"stopped": func() { c.is(c.api("POST", "/sandbox/"+id+"/stop", nil), 200); c.wait(id, "stopped") },
	} {
		if c.srv.Sandboxes()[0].State != "started" {
			c.is(c.api("POST", "/sandbox/"+id+"/start", nil), 200)
			c.wait(id, "started")
		}
		c.session(id, name)
		cmd := c.async(id, name, "echo begun; sleep 300")
		type ending struct {
			log string
			err error
		}
		c.srv.ForgetRequests()
		got := make(chan ending)
		go func() {
			log, err := c.followSocket(c.ctx, id, name, cmd, &websocket.DialOptions{})
			got <- ending{log, err}
		}()
		c.poll("it is followed", func() bool {
			return slices.ContainsFunc(c.srv.Requests(), func(r Request) bool { return r.Status == http.StatusSwitchingProtocols })
		})
		c.poll("it has begun", func() bool {
			return strings.Contains(string(c.box(id, "GET", "/process/session/"+name+"/command/"+cmd+"/logs", nil).body), "begun")
		})
		end()
		if e := <-got; e.log != "begun\n" || websocket.CloseStatus(e.err) != websocket.StatusNormalClosure {
			t.Errorf("%s: %q, %v", name, e.log, e.err)
		}
	}
}

func TestDeleteSessionIsPoliteFirst(t *testing.T) {
	c := newClient(t, Config{Times: Times{SessionGrace: 300 * time.Millisecond}})
	id := c.create(fields{})
	c.session(id, "polite")
	c.async(id, "polite", "sh -c 'trap \"echo term > polite; exit\" TERM; touch ready1; while :; do sleep 0.01; done'")
	c.session(id, "stubborn")
	c.async(id, "stubborn", "sh -c 'trap \"\" TERM; echo $$ > ready2; while :; do sleep 0.01; done'")
	for _, name := range []string{"ready1", "ready2"} {
		c.poll(name, func() bool { return c.box(id, "GET", "/files/info?path="+name, nil).status == 200 })
	}
	c.is(c.box(id, "DELETE", "/process/session/polite", nil), 204)
	c.execOK(id, "cat polite", "term\n")
	start := time.Now()
	c.is(c.box(id, "DELETE", "/process/session/stubborn", nil), 204)
	if d := time.Since(start); d < 300*time.Millisecond {
		t.Errorf("killed after %v", d)
	}
	c.poll("nobody is left", func() bool {
		c.srv.mu.Lock()
		defer c.srv.mu.Unlock()
		return !c.srv.sandboxes[0].daemon.running()
	})
	c.is(c.box(id, "DELETE", "/process/session/stubborn", nil), 404)
}

func TestInput(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.session(id, "s")
	cmd := c.async(id, "s", "read A; read B; echo got $A $B")
	path := "/process/session/s/command/" + cmd
	c.is(c.box(id, "POST", path+"/input", fields{"data": "one\n"}), 204)
	c.is(c.box(id, "POST", path+"/input", fields{"data": "two"}), 204)
	c.poll("it ends", func() bool { return c.exitOf(id, "s", cmd) != nil })
	if a := c.box(id, "GET", path+"/logs?follow=true", nil); string(a.body) != "one\ntwo\ngot one two\n" {
		t.Errorf("log %q", a.body)
	}
	c.is(c.box(id, "POST", path+"/input", fields{"data": "late"}), 410)
}

func TestEntrypoint(t *testing.T) {
	c := newClient(t, Config{})
	c.is(c.api("POST", "/snapshots", fields{"name": "e", "buildInfo": fields{"dockerfileContent": `FROM debian:12
ENTRYPOINT ["sh", "-c", "echo from the entrypoint; exit 1"]`}}), 200)
	c.waitSnapshot("e", "active")
	id := c.create(fields{"snapshot": "e"})
	// Its end does not stop the sandbox.
	a := c.is(c.box(id, "GET", "/process/session/entrypoint/logs?follow=true", nil), 200)
	if string(a.body) != "from the entrypoint\n" {
		t.Errorf("log %q", a.body)
	}
	c.is(c.box(id, "GET", "/process/session/entrypoint", nil), 200, "entrypoint")
	c.execOK(id, "echo up", "up\n")
}
