package daytona_test

import (
	"context"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remote-box/remote/backends/backendtest"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/internal/needs"
)

// on is a backend whose sandboxes are made by srv.
func on(srv *daytonatest.Server) daytona.Backend {
	return daytona.Backend{APIKey: daytona.Secret(srv.Key), APIURL: srv.APIURL()}
}

// none checks that no sandbox is left but those that are being destroyed.
func none(t testing.TB, srv *daytonatest.Server) {
	t.Helper()
	for _, sb := range srv.Sandboxes() {
		if sb.State != "destroying" && sb.State != "destroyed" {
			t.Errorf("a sandbox is left: %+v", sb)
		}
	}
}

// isolated starts a server in whose sandboxes absolute paths are private.
func isolated(t testing.TB, cfg daytonatest.Config) *daytonatest.Server {
	t.Helper()
	srv := daytonatest.New(t, cfg)
	if !srv.Isolated() {
		needs.Missing(t, "sandboxes are plain directories here, which the runner has no place in: it takes root on Linux")
	}
	return srv
}

// conform holds b, whose sandboxes are made by srv, to the contract.
func conform(t *testing.T, srv *daytonatest.Server, b daytona.Backend) {
	t.Helper()
	b.Env = map[string]string{"SOME_VARIABLE": "some value\nin 'two' lines"}
	backendtest.Run(t, func(testing.TB) backendtest.Config {
		return backendtest.Config{
			Backend: b, Env: b.Env, Hidden: []string{srv.Key},
			Remove: func(_ context.Context, id string) error { return srv.DeleteSandbox(id) },
		}
	})
	none(t, srv)
}

func TestConformance(t *testing.T) {
	srv := isolated(t, daytonatest.Config{})
	conform(t, srv, on(srv))
}

// TestConformanceOfVMs does the same for the other class, on a server of the older version that looks
// at logs as seldom as Daytona's.
func TestConformanceOfVMs(t *testing.T) {
	srv := isolated(t, daytonatest.Config{V190: true, LogPoll: 20 * time.Millisecond})
	b := on(srv)
	b.Class = daytona.LinuxVM
	conform(t, srv, b)
}

// TestConformanceUnderFaults does the same while something goes wrong all the time.
func TestConformanceUnderFaults(t *testing.T) {
	srv := isolated(t, daytonatest.Config{ReplayingProxy: true})
	for _, f := range []struct {
		fault daytonatest.Fault
		every int64 // request that fits
	}{
		{daytonatest.Fault{Plane: "api", Status: 502}, 7},
		{daytonatest.Fault{Plane: "api", Reset: daytonatest.After}, 11},
		{daytonatest.Fault{Plane: "toolbox", Reset: daytonatest.Before}, 7},
		{daytonatest.Fault{Plane: "toolbox", Reset: daytonatest.After}, 11},
		{daytonatest.Fault{Plane: "toolbox", Upstream: daytonatest.After}, 9},
		{daytonatest.Fault{Plane: "toolbox", Path: "/logs", Cut: 2000}, 3},
	} {
		var seen atomic.Int64
		f.fault.Times = -1
		f.fault.Match = func(*http.Request) bool { return seen.Add(1)%f.every == 0 }
		srv.Inject(f.fault)
	}
	conform(t, srv, on(srv))
}

// TestLive holds Daytona itself to the contract.
func TestLive(t *testing.T) {
	if os.Getenv("REMOTE_BOX_LIVE") != "daytona" {
		t.Skip("REMOTE_BOX_LIVE is not daytona")
	}
	backendtest.Run(t, func(testing.TB) backendtest.Config {
		return backendtest.Config{Backend: daytona.Backend{SnapshotName: "remote-box-live"}, Hidden: []string{os.Getenv("DAYTONA_API_KEY")}}
	})
}
