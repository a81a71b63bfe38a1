//go:build remotebox_runner

package remote

import (
	"context"
	"errors"

	"github.com/remote-box/remote/internal/hostmode"
)

// A runner builds nothing.
func surveyAll(context.Context, BuildOptions, bool) (Report, error) {
	return Report{}, errors.ErrUnsupported
}

func serveHost(context.Context, *hostmode.Request, *hostmode.Reporter) {}
