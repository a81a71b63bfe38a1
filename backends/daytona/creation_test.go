package daytona_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
	"github.com/remote-box/remote/driver"
)

// described is what the control plane says about a sandbox.
type described struct {
	AutoStopInterval   int
	AutoPauseInterval  int
	AutoDeleteInterval int
	AutoDestroyAt      *string
	NetworkBlockAll    bool
	NetworkAllowList   string
	DomainAllowList    string
	Target             string
	CPU, Memory, Disk  int
	Labels             map[string]string
	Env                map[string]string
	Volumes            []map[string]string
}

func describe(t *testing.T, srv *daytonatest.Server, id string) (d described) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.APIURL()+"/sandbox/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+srv.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return d
}

// TestCreation checks what becomes of a Backend's fields.
func TestCreation(t *testing.T) {
	srv, plain := serve(t, daytonatest.Config{})
	p := program(t)
	make := func(b daytona.Backend, once bool) described {
		t.Helper()
		sb, err := b.Start(t.Context(), driver.Spec{Program: p, Once: once, Labels: map[string]string{"session": "s1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer sb.Close(t.Context())
		return describe(t, srv, sb.ID())
	}
	d := make(plain, false)
	if d.AutoStopInterval != 15 || d.AutoDeleteInterval != 7*24*60 || d.AutoDestroyAt != nil || d.Labels["session"] != "s1" || d.CPU != 1 || d.Memory != 1 || d.Disk != 3 {
		t.Errorf("a session's sandbox: %+v", d)
	}
	if d = make(plain, true); d.AutoStopInterval != 15 || d.AutoDeleteInterval != 0 {
		t.Errorf("a single call's sandbox: %+v", d)
	}
	full := plain
	full.Target, full.CPUs, full.MemoryGB, full.DiskGB = "us", 2, 4, 5
	full.AutoStop, full.TTL, full.Ephemeral = 90*time.Second, 3*time.Hour, true
	full.Env, full.Labels = map[string]string{"TOKEN": "t"}, map[string]string{"team": "blue"}
	full.NetworkAllow, full.DomainAllow = []string{"10.0.0.0/8", "192.0.2.1/32"}, []string{"example.com"}
	full.Volumes = []daytona.Volume{{ID: "v1", Target: "/data", Subpath: "a"}}
	d = make(full, false)
	if d.AutoStopInterval != 2 || d.AutoDeleteInterval != 0 || d.AutoDestroyAt == nil || d.Target != "us" || d.CPU != 2 || d.Memory != 4 || d.Disk != 5 {
		t.Errorf("all fields: %+v", d)
	}
	if len(d.Env) > 0 || d.Labels["team"] != "blue" || d.Labels["remote-box"] != "1" || d.NetworkAllowList != "10.0.0.0/8,192.0.2.1/32" || d.DomainAllowList != "example.com" || len(d.Volumes) != 1 || d.Volumes[0]["mountPath"] != "/data" {
		t.Errorf("all fields: %+v", d)
	}
	kept := plain
	kept.KeepPaused = 90*time.Minute + time.Second
	if d = make(kept, false); d.AutoDeleteInterval != 91 {
		t.Errorf("kept for 90 minutes: %+v", d)
	}
	kept.KeepPaused = -1
	if d = make(kept, false); d.AutoDeleteInterval != -1 {
		t.Errorf("kept for ever: %+v", d)
	}
	if d = make(kept, true); d.AutoDeleteInterval != 0 {
		t.Errorf("a single call's sandbox, kept for ever: %+v", d)
	}
	closed := plain
	closed.NetworkBlockAll, closed.AutoStop, closed.TTL = true, -1, time.Hour
	if d = make(closed, false); !d.NetworkBlockAll || d.AutoStopInterval != 0 {
		t.Errorf("without a network: %+v", d)
	}
	vm := plain
	vm.Class = daytona.LinuxVM
	if d = make(vm, false); d.AutoPauseInterval != 15 || d.AutoStopInterval != 0 {
		t.Errorf("a virtual machine: %+v", d)
	}
}

// TestMemoryLimit asks functions, and commands, for the limit that Go keeps to.
func TestMemoryLimit(t *testing.T) {
	_, b := serve(t, daytonatest.Config{})
	own, large := b, b
	own.Env = map[string]string{"GOMEMLIMIT": "1GiB"}
	large.MemoryGB = 2
	for want, b := range map[string]daytona.Backend{"896MiB": b, "1792MiB": large, "1GiB": own, "896MiB\n": daytona.Direct(b)} {
		if got, err := testfunc.Shell.Call(remote.WithBackend(t.Context(), b), "printf %s $GOMEMLIMIT"); err != nil || got != strings.TrimSpace(want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	if got := shell(t, begun(t, b), "printf %s $GOMEMLIMIT"); got != "" {
		t.Errorf("a command has the limit %q", got)
	}
}

// TestAbandoned leaves a sandbox alone, as a program does that is killed.
func TestAbandoned(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{Minute: 10 * time.Millisecond})
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Start(t.Context(), driver.Spec{Program: program(t), Once: true}); err != nil {
		t.Fatal(err)
	}
	deadline := time.After(20 * time.Second)
	for len(srv.Sandboxes()) > 0 {
		select {
		case <-deadline:
			t.Fatalf("it is still there: %+v", srv.Sandboxes())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
