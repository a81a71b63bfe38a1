//go:build unix && !remotebox_runner

package daytonatest

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestCreateAnswersBeforeTheStart(t *testing.T) {
	c := newClient(t, Config{})
	a := c.is(c.api("POST", "/sandbox", fields{"name": "one", "unknownField": 1}), 200)
	v := c.object(a)
	// Held until started, and yet answered with what it was at the beginning.
	if v["state"] != "creating" {
		t.Errorf("state %v, want creating", v["state"])
	}
	got := c.object(c.is(c.api("GET", "/sandbox/one", nil), 200))
	if got["state"] != "started" || got["id"] != v["id"] {
		t.Errorf("state %v of %v, want started", got["state"], got["id"])
	}
	for _, field := range []string{"id", "organizationId", "name", "user", "env", "labels", "public", "networkBlockAll", "target", "cpu", "gpu", "memory", "disk", "toolboxProxyUrl", "kvm"} {
		if _, ok := got[field]; !ok {
			t.Errorf("the sandbox lacks %s, which clients insist on", field)
		}
	}
	if a.header.Get("X-Daytona-Api-Version") == "" || a.header.Get("X-RateLimit-Remaining-sandbox-create") == "" {
		t.Errorf("headers missing: %v", a.header)
	}
}

func TestRefusals(t *testing.T) {
	c := newClient(t, Config{VMRegions: []string{"eu"}, Quota: Quota{CPU: 3, Memory: 8, CPUPerSandbox: 2, Snapshots: 1}})
	c.create(fields{"name": "taken"})
	c.is(c.api("POST", "/snapshots", fields{"name": "mine", "imageName": "debian:12"}), 200)
	c.waitSnapshot("mine", "active")
	id := c.object(c.is(c.api("GET", "/snapshots/mine", nil), 200))["id"].(string)
	build := fields{"dockerfileContent": "FROM debian:12"}
	for _, tt := range []struct {
		name, method, path string
		body               any
		status             int
		text               string
	}{
		{"name in use", "POST", "/sandbox", fields{"name": "taken"}, 409, "Sandbox with name taken already exists"},
		{"unknown snapshot", "POST", "/sandbox", fields{"snapshot": "x"}, 400, "Snapshot x not found. Did you add it through the Daytona Dashboard?"},
		{"unknown region", "POST", "/sandbox", fields{"target": "mars"}, 404, "Region not found"},
		{"snapshot with sizes", "POST", "/sandbox", fields{"snapshot": "mine", "cpu": 1}, 400, "Cannot specify Sandbox resources when using a snapshot"},
		{"total quota", "POST", "/sandbox", fields{"snapshot": "daytona-large"}, 400, "exceeds maximum allowed per sandbox"},
		{"no runners", "POST", "/sandbox", fields{"snapshot": "daytona-vm-small"}, 400, "No runners are configured in region 'us' for sandbox class 'linux-vm'"},
		{"per sandbox", "POST", "/sandbox", fields{"buildInfo": build, "cpu": 9}, 400, "CPU request 9 exceeds maximum allowed per sandbox"},
		{"pause a container", "POST", "/sandbox/taken/pause", nil, 422, "Pausing is not supported for this sandbox"},
		{"archive when started", "POST", "/sandbox/taken/archive", nil, 400, "not stopped"},
		{"auto-pause of a container", "POST", "/sandbox", fields{"autoPauseInterval": 5}, 400, "not supported"},
		{"unknown sandbox", "GET", "/sandbox/nobody", nil, 404, "not found"},
		{"malformed body", "POST", "/sandbox", strings.NewReader("{"), 400, "unexpected EOF"},
		{"no such call", "GET", "/nothing", nil, 404, "Cannot GET /api/nothing"},
		{"snapshot name in use", "POST", "/snapshots", fields{"name": "mine", "imageName": "debian:12"}, 409, "already exists"},
		{"snapshot quota", "POST", "/snapshots", fields{"name": "more", "imageName": "debian:12"}, 400, "quota"},
		{"latest", "POST", "/snapshots", fields{"name": "l", "imageName": "debian:latest"}, 400, "latest"},
		{"no tag", "POST", "/snapshots", fields{"name": "l", "imageName": "host:5000/debian"}, 400, "tag"},
		{"image and build", "POST", "/snapshots", fields{"name": "l", "imageName": "debian:12", "buildInfo": build}, 400, "both"},
		{"entrypoint and build", "POST", "/snapshots", fields{"name": "l", "entrypoint": []string{"x"}, "buildInfo": build}, 400, "entrypoint"},
		{"bad snapshot name", "POST", "/snapshots", fields{"name": "a b", "imageName": "debian:12"}, 400, "Invalid snapshot name"},
		{"windows", "POST", "/snapshots", fields{"name": "w", "imageName": "debian:12", "sandboxClass": "windows"}, 400, "not supported"},
		{"snapshot for linux-vm here", "POST", "/snapshots", fields{"name": "vm", "imageName": "debian:12", "sandboxClass": "linux-vm"}, 400, "No runners are configured"},
		{"delete a snapshot by name", "DELETE", "/snapshots/mine", nil, 400, "Validation failed (uuid is expected)"},
		{"activate an active one", "POST", "/snapshots/" + id + "/activate", nil, 400, "already active"},
	} {
		a := c.api(tt.method, tt.path, tt.body)
		if a.status != tt.status || !strings.Contains(string(a.body), tt.text) {
			t.Errorf("%s: %d %s, want %d %q", tt.name, a.status, a.body, tt.status, tt.text)
		}
		v := c.object(a)
		if v["statusCode"] != float64(tt.status) || v["source"] != "DAYTONA_API" || v["code"] == "" {
			t.Errorf("%s: the error's form is wrong: %s", tt.name, a.body)
		}
	}
	// 1 of 3 is in use, so that a sandbox of 2 fits and a further one does not.
	c.create(fields{"snapshot": "daytona-medium"})
	c.is(c.api("POST", "/sandbox", fields{}), 400, "Total CPU limit exceeded")
	c.is(c.api("GET", "/sandbox", nil, "Authorization", "Bearer wrong"), 401, "Invalid credentials")
}

func TestContainerLifecycle(t *testing.T) {
	c := newClient(t, Config{Times: Times{Destroy: 500 * time.Millisecond}})
	id := c.create(fields{"name": "box", "env": fields{"A": "1"}})
	c.execOK(id, "echo kept > kept; cat kept; echo $A", "kept\n1\n")
	c.is(c.api("POST", "/sandbox/"+id+"/start", nil), 200) // started already

	// A process that left its group and its session dies with the sandbox all the same.
	c.execOK(id, "setsid sleep 300 >/dev/null 2>&1 </dev/null & echo started", "started\n")
	before := c.srv.Sandboxes()[0].Processes
	if len(before) == 0 {
		t.Fatal("no processes")
	}
	c.is(c.api("POST", "/sandbox/box/stop", nil), 200, `"state":"stopping"`)
	c.is(c.api("POST", "/sandbox/box/stop", nil), 409, "Sandbox state change in progress")
	c.wait(id, "stopped")
	for _, pid := range before {
		if alive(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
	c.is(c.api("POST", "/sandbox/box/stop", nil), 400, "not in a stoppable state")
	c.is(c.box(id, "GET", "/version", nil), 400, "Is the Sandbox started?")

	c.is(c.api("POST", "/sandbox/box/archive", nil), 200)
	c.wait(id, "archived")
	c.is(c.box(id, "GET", "/version", nil), 400, "Sandbox with ID "+id+" not found")
	c.is(c.api("POST", "/sandbox/box/start", nil), 200, `"state":"restoring"`)
	c.wait(id, "started")
	c.execOK(id, "cat kept", "kept\n")

	c.is(c.api("DELETE", "/sandbox/box", nil), 200, `"state":"destroying"`)
	c.is(c.api("DELETE", "/sandbox/"+id, nil), 404)
	c.is(c.box(id, "GET", "/version", nil), 404, "sandbox container not found")
	again := c.create(fields{"name": "box"}) // the name is free at once
	c.wait(id, "destroyed")
	c.is(c.api("GET", "/sandbox/"+id, nil), 404)
	c.is(c.box(id, "GET", "/version", nil), 401, "authentication failed: Bearer token is invalid")
	c.is(c.box("box", "GET", "/version", nil), 401) // a name is no identifier
	if _, err := os.Stat(c.srv.diskOf(&sandbox{id: id})); err == nil {
		t.Error("the disk is still there")
	}
	c.execOK(again, "ls kept 2>/dev/null || echo none", "none\n")
}

// The toolbox answers 502, with nothing in it, while the sandbox is between two states.
func TestTransitionsAre502(t *testing.T) {
	c := newClient(t, Config{Times: Times{Start: time.Hour}})
	id := c.create(fields{})
	c.is(c.api("POST", "/sandbox/"+id+"/stop", nil), 200)
	c.wait(id, "stopped")
	c.is(c.api("POST", "/sandbox/"+id+"/start", nil), 200)
	if a := c.is(c.box(id, "GET", "/version", nil), 502); len(a.body) != 0 {
		t.Errorf("body %q", a.body)
	}
}

// An exec that runs while its sandbox is stopped gets 502, empty.
func TestStopDuringExec(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	got := make(chan answer)
	go func() { got <- c.box(id, "POST", "/process/execute", fields{"command": "touch running; sleep 300"}) }()
	c.poll("the command runs", func() bool { return c.box(id, "GET", "/files/info?path=running", nil).status == 200 })
	c.is(c.api("POST", "/sandbox/"+id+"/stop?force=true", nil), 200)
	if a := c.is(<-got, 502); len(a.body) != 0 {
		t.Errorf("body %q", a.body)
	}
}

func TestEphemeralIsDeletedWhenStopped(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{"autoDeleteInterval": 0})
	c.is(c.api("POST", "/sandbox/"+id+"/stop", nil), 200, `"state":"destroying"`)
	c.wait(id, "destroyed")
}

func TestOutside(t *testing.T) {
	c := newClient(t, Config{})
	zombie, failed, deleted := c.create(fields{}), c.create(fields{}), c.create(fields{})
	if err := c.srv.KillSandbox(zombie); err != nil {
		t.Fatal(err)
	}
	c.is(c.api("GET", "/sandbox/"+zombie, nil), 200, `"state":"started"`, `"errorReason":null`)
	c.is(c.box(zombie, "GET", "/version", nil), 400, "Is the Sandbox started?")
	// Stop and start bring it back.
	c.is(c.api("POST", "/sandbox/"+zombie+"/stop?force=true", nil), 200)
	c.wait(zombie, "stopped")
	c.is(c.api("POST", "/sandbox/"+zombie+"/start", nil), 200)
	c.wait(zombie, "started")
	c.execOK(zombie, "echo back", "back\n")

	if err := c.srv.FailSandbox(failed, "runner lost", true); err != nil {
		t.Fatal(err)
	}
	c.is(c.api("POST", "/sandbox/"+failed+"/start", nil), 400, "Sandbox is in an errored state")
	c.is(c.api("POST", "/sandbox/"+failed+"/recover", nil), 200)
	c.wait(failed, "started")

	vm := c.create(fields{"snapshot": "daytona-vm-small"})
	if err := c.srv.PauseSandbox(vm); err != nil {
		t.Fatal(err)
	}
	c.is(c.api("GET", "/sandbox/"+vm, nil), 200, `"state":"paused"`)
	if err := c.srv.PauseSandbox(zombie); err == nil {
		t.Error("a container was paused")
	}
	if err := c.srv.DeleteSandbox(deleted); err != nil {
		t.Fatal(err)
	}
	c.is(c.api("GET", "/sandbox/"+deleted, nil), 404)
	if err := c.srv.StopSandbox(zombie); err != nil {
		t.Fatal(err)
	}
	c.wait(zombie, "stopped")
}

func TestRateLimit(t *testing.T) {
	c := newClient(t, Config{RateLimits: map[string]int{"sandbox-create": 1}})
	c.create(fields{})
	a := c.is(c.api("POST", "/sandbox", fields{}), 429, "ThrottlerException: Too Many Requests")
	if a.header.Get("Retry-After-sandbox-create") == "" || a.header.Get("Retry-After") != "" {
		t.Errorf("headers: %v", a.header)
	}
	c.is(c.api("GET", "/sandbox", nil), 200) // another throttler
}
