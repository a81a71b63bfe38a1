//go:build !remotebox_runner

package remote

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/registry"
)

// Runner implements driver.Program. Runners are built once in a process: edits after the first
// call count from the next start on.
func (p *program) Runner(ctx context.Context, t driver.Target) (string, error) {
	if registry.SelfRunner() && t.Host {
		return os.Executable()
	}
	src, err := p.source(ctx)
	if err != nil {
		return "", err
	}
	makeRunner := func(ctx context.Context) (*build.Runner, error) { return build.Build(ctx, src, t) }
	r, err := registry.Shared(ctx, fmt.Sprintf("runner %+v %+v", src, t), makeRunner)
	if ctx.Err() != nil {
		return "", &building{ctx.Err()}
	}
	if err == nil && !r.Use() {
		r, err = makeRunner(ctx) // the cache was cleared meanwhile
	}
	if err != nil {
		return "", buildError(err)
	}
	return r.Path, nil
}

func buildError(err error) error {
	if e, ok := errors.AsType[*build.Error](err); ok {
		return &BuildError{What: e.Package, Log: e.Log, Err: e.Err}
	}
	return err
}
