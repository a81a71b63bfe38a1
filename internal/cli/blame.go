package cli

import (
	"context"
	"os"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

// blame says which package ended a program while it initialised. A request that can't be read ends
// it, should it get that far.
func (a *app) blame(ctx context.Context, p build.HostProgram) string {
	ctx, cancel := context.WithTimeout(ctx, a.initTimeout)
	defer cancel()
	return p.Blame(ctx, a.root, hostmode.Variable+"="+os.DevNull)
}
