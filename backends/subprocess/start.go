//go:build !remotebox_runner

package subprocess

import (
	"context"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/local"
)

func (b Backend) config() local.Config {
	return local.Config{Dir: b.Dir, Env: b.Env, InheritEnv: b.InheritEnv, Build: b.Build}
}

// Start implements driver.Backend.
func (b Backend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	return local.Start(ctx, b.config(), spec)
}

// Attach implements driver.Backend. A sandbox can be attached to by the same user on the same
// host, with the same TMPDIR.
func (b Backend) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	return local.Attach(ctx, b.config(), id, spec)
}

var _ driver.Targeted = Backend{}

// Target implements driver.Targeted.
func (b Backend) Target() driver.Target { return local.Backend{Config: b.config()}.Target() }
