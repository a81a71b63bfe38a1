//go:build !remotebox_runner

package daytona

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/image"
	"github.com/remote-box/remote/internal/registry"
)

// layout is the version of what is added to a base or a Dockerfile, as part of the identity.
const layout = "1"

var _ driver.Imager = Backend{}

// Image implements driver.Imager.
func (b Backend) Image(ctx context.Context, p driver.Program) (driver.Image, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	return b.compute(ctx, p)
}

func (b Backend) baseImage() string { return cmp.Or(b.BaseImage, DefaultBaseImage) }

func (b Backend) settings() image.Settings {
	s := image.Settings{
		Backend: Name, Prefix: b.prefix(), Dockerfile: b.Dockerfile, Pinned: b.Snapshot, AutoBuild: b.AutoBuild,
		// Daytona has no other platform.
		Target: driver.Target{OS: "linux", Arch: "amd64", Build: b.Build},
		Baked: map[string]string{
			"layout": layout, "class": string(b.class()),
			"cpu": fmt.Sprint(b.cpus()), "memory": fmt.Sprint(b.memory()), "disk": fmt.Sprint(b.disk()),
		},
	}
	// A snapshot is of use in its own region only, and names can't be used twice.
	if region := b.region(); region != "" {
		s.Baked["target"] = region
	}
	return s
}

func (b Backend) compute(ctx context.Context, p driver.Program) (*snapshot, error) {
	s := b.settings()
	if b.Dockerfile == "" {
		s.Baked["base"] = b.baseImage()
	}
	img, err := image.Compute(ctx, p, s, func(prefix, identity string) string {
		return prefix + "-" + identity + "-" + string(b.class())
	})
	if err != nil {
		return nil, err
	}
	return &snapshot{backend: b, image: img}, nil
}

// find chooses the snapshot of a program's sandboxes. What follows from the sources is computed
// once in a process: edits after the first call count from the next start on.
func (b Backend) find(ctx context.Context, p driver.Program) (string, driver.Image, error) {
	return image.Find(ctx, p, b.settings(), func(ctx context.Context) (driver.Image, error) {
		root, err := p.Root()
		if err != nil {
			return nil, err
		}
		s := b.settings()
		// Of what decides the snapshot, all; of the rest, what decides where it is looked for.
		key := fmt.Sprintf("daytona snapshot %q %q %q %q %q %v %+v", p.Name(), root, s.Prefix, s.Dockerfile, b.baseImage(), s.Baked, s.Target)
		made, err := registry.Once(ctx, key, func(ctx context.Context) (*snapshot, error) { return b.compute(ctx, p) })
		if err != nil {
			return nil, err
		}
		return &snapshot{backend: b, image: made.image}, nil
	})
}

// buildLog is where a build that a call needs reports: the terminal, if there is one.
func buildLog() io.Writer {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return os.Stderr
	}
	return io.Discard
}
