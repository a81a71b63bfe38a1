//go:build !remotebox_runner

package local

import (
	"context"

	"github.com/remote-box/remote/driver"
)

// Backend makes the sandboxes of its Config.
type Backend struct {
	Config
}

var (
	_ driver.Pausable = Backend{}
	_ driver.Targeted = Backend{}
)

// Name implements driver.Backend.
func (Backend) Name() string { return Name }

// Start implements driver.Backend.
func (b Backend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	return Start(ctx, b.Config, spec)
}

// Attach implements driver.Backend.
func (b Backend) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	return Attach(ctx, b.Config, id, spec)
}

// Target implements driver.Targeted.
func (b Backend) Target() driver.Target { return b.target() }

// PauseSemantics implements driver.Pausable.
func (Backend) PauseSemantics() driver.PauseSemantics { return driver.PauseNone }
