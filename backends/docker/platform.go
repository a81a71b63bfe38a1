//go:build !remotebox_runner

package docker

import (
	"context"
	"fmt"

	"github.com/moby/moby/client"
)

// foreign says that an image is for another architecture than the engine's, which no engine tells
// before its programs fail to start; "" if it is not, or can't be told.
func (e *engine) foreign(ctx context.Context, image string) string {
	img, err := e.ImageInspect(ctx, image)
	if err != nil {
		return ""
	}
	v, err := e.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return ""
	}
	return differ(img.Architecture, v.Arch)
}

func differ(image, engine string) string {
	if image == "" || engine == "" || image == engine {
		return ""
	}
	return fmt.Sprintf("; docker.Backend.Platform: the image is for %s, which an engine on %s runs only with an emulator (docker run --privileged --rm tonistiigi/binfmt --install %[1]s)", image, engine)
}
