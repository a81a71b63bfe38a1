//go:build remotebox_runner

package e2b

import (
	"context"
	"errors"

	"github.com/remote-box/remote/driver"
)

// HTTPClient stands for a client of package net/http, which a runner does without.
type HTTPClient = any

// Start implements driver.Backend.
func (Backend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	return driver.InRunner{}.Start(ctx, spec)
}

// Attach implements driver.Backend.
func (Backend) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	return driver.InRunner{}.Attach(ctx, id, spec)
}

// Image implements driver.Imager.
func (Backend) Image(context.Context, driver.Program) (driver.Image, error) {
	return nil, errors.ErrUnsupported
}
