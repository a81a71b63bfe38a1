//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/image"
)

// Start implements driver.Backend.
func (b Backend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	a, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	name, img, err := b.find(ctx, spec.Program)
	if err != nil {
		return nil, err
	}
	// The snapshot is looked at when it turns out not to be usable, not before every start.
	for try := 0; ; try++ {
		s, err := b.launch(ctx, a, name, spec)
		if err == nil {
			return s, nil
		}
		if !unusable(err) || try == 2 {
			return nil, err
		}
		if err := b.provide(ctx, a, name, img); err != nil {
			return nil, err
		}
	}
}

// unusable reports whether err says that the snapshot is missing, or that it can't be used yet.
func unusable(err error) bool {
	return says(err, 400, "snapshot") && says(err, 400, "not found", " is inactive", " is pending", " is building", " is pulling", " is removing", " is error", " is build_failed", " is snapshotting") ||
		says(err, 404, "snapshot")
}

// provide makes a snapshot usable.
func (b Backend) provide(ctx context.Context, a *api, name string, img driver.Image) error {
	if img != nil {
		return image.Ensure(ctx, b.settings(), img, buildLog())
	}
	// One that was pinned or locked can be activated, and waited for, but not made.
	found, err := a.usable(ctx, name)
	if err != nil || found {
		return err
	}
	missing := &remote.MissingImageError{Backend: Name, Image: name}
	if b.Snapshot != "" {
		return unpinned{missing}
	}
	return missing
}

// ids are Daytona's UUIDs and the names that sandboxes can have.
var ids = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// Attach implements driver.Backend. The id is a sandbox's id or its name.
func (b Backend) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	// The id comes from a ref that anybody may have written.
	if !ids.MatchString(id) {
		return nil, fmt.Errorf("daytona: %.40q is not the id of a sandbox", id)
	}
	a, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	info, err := a.sandbox(ctx, id)
	if err != nil {
		return nil, err
	}
	if info.gone() {
		return nil, fmt.Errorf("daytona: %w: the sandbox %s has been deleted", errGone, id)
	}
	if info.Labels["remote-box"] == "" {
		return nil, errors.New("daytona: the sandbox " + id + " was not made by remote-box")
	}
	s, err := newSandbox(b, a, info, spec.Once)
	if err != nil {
		return nil, err
	}
	if err := s.resume(ctx, info); err != nil {
		s.letGo()
		return nil, err
	}
	return s, nil
}
