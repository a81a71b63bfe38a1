//go:build remotebox_runner

package daytona

import (
	"context"

	"github.com/remote-box/remote/driver"
)

// Start implements driver.Backend.
func (Backend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	return driver.InRunner{}.Start(ctx, spec)
}

// Attach implements driver.Backend.
func (Backend) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	return driver.InRunner{}.Attach(ctx, id, spec)
}
