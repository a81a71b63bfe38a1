//go:build remotebox_runner

package remote

import (
	"context"
	"errors"

	"github.com/remote-box/remote/driver"
)

// A runner makes no sandboxes: inside one, functions are called in place.

type noBackend struct{ driver.InRunner }

func (noBackend) Name() string { return "none" }

func defaultBackend() driver.Backend { return noBackend{} }

// The methods of driver.Program are for hosts.

func (p *program) Name() string          { return p.f.Package }
func (p *program) Root() (string, error) { return "", errors.ErrUnsupported }

func (p *program) Locked(string, string) (string, bool, error) { return "", false, nil }

func (p *program) Runner(context.Context, driver.Target) (string, error) {
	return "", errors.ErrUnsupported
}
