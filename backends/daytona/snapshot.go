//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/image"
)

// snapshotInfo is what the control plane says about a snapshot.
type snapshotInfo struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	State       string  `json:"state"`
	ErrorReason string  `json:"errorReason"`
	General     bool    `json:"general"`
	CreatedAt   string  `json:"createdAt"`
	Size        float64 `json:"size"` // GB
}

func (i *snapshotInfo) failed() bool { return i.State == "error" || i.State == "build_failed" }

var errNoSnapshot = errors.New("there is no such snapshot")

// snapshot describes a snapshot, given its name. One that does not exist is errNoSnapshot.
func (a *api) snapshot(ctx context.Context, name string) (*snapshotInfo, error) {
	info := new(snapshotInfo)
	_, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/snapshots/" + url.PathEscape(name), Retry: httpapi.Idempotent}, info)
	if says(err, http.StatusNotFound) {
		return nil, errNoSnapshot
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// activate begins to activate a snapshot that was not used for some weeks. That somebody else has
// done so is no error.
func (a *api) activate(ctx context.Context, info *snapshotInfo) error {
	_, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodPost, Path: "/snapshots/" + info.ID + "/activate", Retry: httpapi.Idempotent}, nil)
	if says(err, http.StatusBadRequest, "already active", "pending state", "pulling state", "active state") {
		return nil
	}
	return refused(err)
}

// removeSnapshot begins to delete a snapshot: by its id only, a name is refused.
func (a *api) removeSnapshot(ctx context.Context, id string) error {
	_, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodDelete, Path: "/snapshots/" + id, Retry: httpapi.Idempotent}, nil)
	if says(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// usable waits until a snapshot that exists can be used, activating it if need be.
func (a *api) usable(ctx context.Context, name string) (found bool, err error) {
	var p pace
	for {
		info, err := a.snapshot(ctx, name)
		switch {
		case errors.Is(err, errNoSnapshot):
			return false, nil
		case err != nil:
			return false, err
		case info.State == "active":
			return true, nil
		case info.failed():
			return true, fmt.Errorf("daytona: the snapshot %s is in state %s: %s", name, info.State, reasonOf(info.ErrorReason))
		case info.State == "inactive":
			if err := a.activate(ctx, info); err != nil {
				return true, err
			}
		}
		if !p.wait(ctx) {
			return true, fmt.Errorf("daytona: the snapshot %s is still in state %s: %w", name, info.State, ctx.Err())
		}
	}
}

// snapshot is a snapshot that is made here.
type snapshot struct {
	backend Backend
	image   *image.Image
}

var _ driver.Image = (*snapshot)(nil)

// Name implements driver.Image.
func (s *snapshot) Name() string { return s.image.Name }

// Parts implements driver.Image.
func (s *snapshot) Parts() []driver.Part { return s.image.Parts }

// Ready implements driver.Image. A snapshot that Daytona has put aside can be used once Build has
// activated it.
func (s *snapshot) Ready(ctx context.Context) (bool, error) {
	a, err := s.backend.connect(ctx)
	if err != nil {
		return false, err
	}
	info, err := a.snapshot(ctx, s.Name())
	if errors.Is(err, errNoSnapshot) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if info.State != "inactive" {
		return info.State == "active", nil
	}
	return a.usable(ctx, s.Name()) // no build, so that nobody has to allow one
}

// Build implements driver.Image.
func (s *snapshot) Build(ctx context.Context, log io.Writer) error {
	if err := s.backend.check(); err != nil {
		return err
	}
	a, err := s.backend.connect(ctx)
	if err != nil {
		return err
	}
	log = &sharedWriter{w: log}
	if s.backend.class() == LinuxVM {
		return s.buildVM(ctx, a, log)
	}
	b := &build{api: a, name: s.Name(), log: log, what: s.dockerfileName(), dockerfile: s.image.Dockerfile}
	return b.run(ctx, func(ctx context.Context) error { return s.submit(ctx, a, log) })
}

func (s *snapshot) dockerfileName() string {
	if s.image.DockerfilePath != "" {
		return s.image.DockerfilePath
	}
	return "the snapshot " + s.Name()
}
