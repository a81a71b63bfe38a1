//go:build unix && !remotebox_runner

package daytonatest

import (
	"context"
	"testing"
	"time"
)

func TestAutoStop(t *testing.T) {
	c := newClient(t, Config{Minute: 300 * time.Millisecond})
	idle := c.create(fields{"autoStopInterval": 1})
	// A request that is open keeps its sandbox awake; one that opts out does not.
	busy := c.create(fields{"autoStopInterval": 1})
	ctx, cancel := context.WithCancel(c.ctx)
	got := make(chan answer)
	go func() {
		got <- c.send(ctx, "POST", c.srv.ToolboxURL()+"/"+busy+"/process/execute", fields{"command": "sleep 300"})
	}()
	asleep := c.create(fields{"autoStopInterval": 1})
	go func() {
		got <- c.send(ctx, "POST", c.srv.ToolboxURL()+"/"+asleep+"/process/execute", fields{"command": "sleep 300"}, "X-Daytona-Skip-Last-Activity-Update", "true")
	}()
	ttl := c.create(fields{"autoStopInterval": 0, "ttlMinutes": 2})
	c.wait(idle, "stopped")
	c.wait(asleep, "stopped")
	c.wait(ttl, "destroyed")
	if state := c.object(c.api("GET", "/sandbox/"+busy, nil))["state"]; state != "started" {
		t.Errorf("the busy one is %v", state)
	}
	gone := c.create(fields{"autoStopInterval": 1, "autoDeleteInterval": 1})
	archived := c.create(fields{"autoStopInterval": 1, "autoArchiveInterval": 1})
	c.wait(gone, "destroyed")
	c.wait(archived, "archived")
	cancel()
	<-got
	<-got
}

func TestSettings(t *testing.T) {
	c := newClient(t, Config{})
	id, vm := c.create(fields{}), c.create(fields{"snapshot": "daytona-vm-small"})
	got := c.object(c.is(c.api("GET", "/sandbox/"+id, nil), 200))
	if got["autoStopInterval"] != 15.0 || got["autoDeleteInterval"] != -1.0 || got["autoArchiveInterval"] != 10080.0 || got["autoPauseInterval"] != 0.0 {
		t.Errorf("defaults of a container: %v", got)
	}
	got = c.object(c.is(c.api("GET", "/sandbox/"+vm, nil), 200))
	if got["autoStopInterval"] != 0.0 || got["autoPauseInterval"] != 60.0 || got["sandboxClass"] != "linux-vm" {
		t.Errorf("defaults of a virtual machine: %v", got)
	}
	for _, tt := range []struct {
		path, field string
		status      int
		value       any
	}{
		{"/autostop/5", "autoStopInterval", 201, 5.0},
		{"/autostop/-1", "", 400, nil},
		{"/autostop/x", "", 400, nil},
		{"/autopause/5", "", 400, nil},
		{"/autoarchive/0", "autoArchiveInterval", 201, 43200.0}, // 0 is the most there is
		{"/autoarchive/43201", "", 400, nil},
		{"/autodelete/0", "autoDeleteInterval", 201, 0.0},
		{"/public/true", "public", 201, true},
		{"/ttl/0", "autoDestroyAt", 201, nil},
	} {
		a := c.is(c.api("POST", "/sandbox/"+id+tt.path, nil), tt.status)
		if tt.field != "" && c.object(a)[tt.field] != tt.value {
			t.Errorf("%s: %s", tt.path, a.body)
		}
	}
	if at := c.object(c.is(c.api("POST", "/sandbox/"+id+"/ttl/60", nil), 201))["autoDestroyAt"]; at == nil {
		t.Error("no autoDestroyAt")
	}
	c.is(c.api("POST", "/sandbox/"+id+"/network-settings", fields{"networkAllowList": "10.0.0.0/8"}), 201, "10.0.0.0/8")
	c.is(c.api("GET", "/sandbox/"+id+"/toolbox-proxy-url", nil), 200, c.srv.ToolboxURL())

	// A request to the toolbox is activity, as POST last-activity is; one that opts out is none.
	last := func() time.Time { return c.srv.Sandboxes()[0].LastActivity }
	before := last()
	c.is(c.box(id, "GET", "/version", nil, "X-Daytona-Skip-Last-Activity-Update", "true"), 200)
	if !last().Equal(before) {
		t.Error("a request that opted out was activity")
	}
	c.is(c.api("POST", "/sandbox/"+id+"/last-activity", nil), 201)
	between := last()
	c.is(c.box(id, "GET", "/version", nil), 200)
	if !between.After(before) || !last().After(between) {
		t.Errorf("activity at %v, %v, %v", before, between, last())
	}
}
