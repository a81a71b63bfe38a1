//go:build !remotebox_runner

package docker

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/remote-box/remote/internal/owndir"
	"github.com/remote-box/remote/internal/proc"
)

// sweepEvery is how often a program looks for what others have left behind.
const sweepEvery = 10 * time.Minute

// keepStopped is how long a stopped container whose program has ended waits to be resumed.
const keepStopped = 24 * time.Hour

// sweep removes the containers whose programs, on this host, died without closing them, and that
// have ended since: a runner ends by itself when no host has been connected for two minutes.
func (e *engine) sweep(ctx context.Context) {
	if sweepDue() {
		e.sweepNow(ctx)
	}
}

// sweepDue reports whether it is time to sweep, and notes that it is done.
func sweepDue() bool {
	base, err := owndir.Temp() // nobody else can have put a link there
	if err != nil {
		return false
	}
	stamp := filepath.Join(base, ".docker-swept")
	if info, err := os.Stat(stamp); err == nil && time.Since(info.ModTime()) < sweepEvery {
		return false
	}
	if os.WriteFile(stamp, nil, 0o600) != nil {
		return false
	}
	now := time.Now()
	os.Chtimes(stamp, now, now)
	return true
}

func (e *engine) sweepNow(ctx context.Context) {
	list, err := e.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", label+"=1").Add("status", "exited", "created")})
	if err != nil {
		return
	}
	host, _ := os.Hostname()
	for _, c := range list.Items {
		pid, err := strconv.Atoi(c.Labels[label+".pid"])
		if err != nil || c.Labels[label+".host"] != host || proc.Alive(pid) || c.State == container.StateRunning {
			continue
		}
		if c.Labels[labelOnce] != "1" && time.Since(time.Unix(c.Created, 0)) < keepStopped {
			continue
		}
		e.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	}
}
