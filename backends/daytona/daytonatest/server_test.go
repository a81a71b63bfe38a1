//go:build unix && !remotebox_runner

package daytonatest

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"
)

// alive reports whether a process exists and is no zombie.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }

func TestCloseLeavesNothing(t *testing.T) {
	for name, cfg := range modes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, err := Start(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			c := &client{t: t, ctx: ctx, srv: srv}
			id := c.create(fields{})
			c.is(c.box(id, "POST", "/process/session", fields{"sessionId": "s"}), 201)
			c.is(c.box(id, "POST", "/process/session/s/exec", fields{"command": "setsid sleep 300 & sleep 300", "runAsync": true}), 202)
			open := make(chan answer)
			go func() { open <- c.box(id, "POST", "/process/execute", fields{"command": "touch here; sleep 300"}) }()
			c.poll("the command runs", func() bool { return c.box(id, "GET", "/files/info?path=here", nil).status == 200 })
			pids := srv.Sandboxes()[0].Processes
			if len(pids) < 4 {
				t.Fatalf("processes %v", pids)
			}
			srv.Close()
			<-open
			for _, pid := range pids {
				if alive(pid) {
					t.Errorf("process %d lives on", pid)
				}
			}
			if _, err := os.Stat(srv.dir); !os.IsNotExist(err) {
				t.Errorf("%s is still there", srv.dir)
			}
			srv.Close()
			if a := c.api("GET", "/sandbox", nil); a.err == nil {
				t.Errorf("a closed server answers %d", a.status)
			}
		})
	}
}

func TestOpenCalls(t *testing.T) {
	c := newClient(t, Config{})
	for _, path := range []string{"/config", "/health", "/health/ready", "/shared-regions", "/regions"} {
		c.is(c.api("GET", path, nil), 200)
	}
	c.is(c.api("GET", "/config", nil, "Authorization", ""), 200, `"maintananceMode":false`, "proxyToolboxUrl")
	c.is(c.api("GET", "/organizations/"+c.srv.OrganizationID()+"/usage", nil), 200, "totalSnapshotQuota")
	c.is(c.api("GET", "/socket.io/?EIO=4", nil), 404)
}

func TestV190(t *testing.T) {
	c := newClient(t, Config{V190: true})
	id := c.create(fields{})
	v := c.object(c.is(c.api("GET", "/sandbox/nobody", nil), 404))
	if v["code"] != nil || v["source"] != nil {
		t.Errorf("0.190 had no code and no source: %v", v)
	}
	if a := c.is(c.box(id, "GET", "/files/info?path=nothing", nil), 404); len(a.body) != 0 {
		t.Errorf("0.190 left it at the status: %s", a.body)
	}
	c.is(c.box(id, "POST", "/files/upload-v2?path=x", fields{}), 404)
	if access := c.object(c.is(c.api("GET", "/object-storage/push-access", nil), 200)); access["region"] != nil {
		t.Errorf("0.190 named no region: %v", access)
	}
}
