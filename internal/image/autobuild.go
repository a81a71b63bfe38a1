//go:build !remotebox_runner

package image

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
)

// AutoBuildVariable says whether a missing image may be built on the first call.
const AutoBuildVariable = "REMOTE_BOX_AUTO_BUILD"

// AutoBuild decides whether a missing image may be built at run time: the backend value's word,
// else the variable's, else yes.
func AutoBuild(override *bool) (bool, error) {
	if override != nil {
		return *override, nil
	}
	v := os.Getenv(AutoBuildVariable)
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "", "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	}
	return false, fmt.Errorf("%s: %q is none of 1, true, yes, on, 0, false, no, off", AutoBuildVariable, v)
}

// Ensure builds an image that is not ready, if it may. A build that fails is forgiven if the
// image is there afterwards: somebody else has built it.
func Ensure(ctx context.Context, s Settings, img driver.Image, log io.Writer) error {
	ready, err := img.Ready(ctx)
	if err != nil || ready {
		return err
	}
	may, err := AutoBuild(s.AutoBuild)
	if err != nil {
		return err
	}
	if !may {
		return &remote.MissingImageError{Backend: s.Backend, Image: img.Name()}
	}
	err = img.Build(ctx, log)
	if err != nil && ctx.Err() == nil {
		if ready, readyErr := img.Ready(ctx); readyErr == nil && ready {
			return nil
		}
	}
	return err
}
