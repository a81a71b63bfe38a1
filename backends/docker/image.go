//go:build !remotebox_runner

package docker

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/containerd/errdefs"
	"github.com/containerd/platforms"
	"github.com/mattn/go-isatty"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/image"
	"github.com/remote-box/remote/internal/registry"
)

// runnerPath is where the runner is in an image.
const runnerPath = "/remote-box-runner"

// layout is the version of what is added to a Dockerfile's image, as part of the identity.
const layout = "1"

var _ driver.Imager = Backend{}

// Image implements driver.Imager.
func (b Backend) Image(ctx context.Context, p driver.Program) (driver.Image, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	return b.compute(ctx, p)
}

func (b Backend) compute(ctx context.Context, p driver.Program) (*builtImage, error) {
	s := b.settings()
	s.Baked = map[string]string{"layout": layout}
	if b.Dockerfile == "" {
		var err error
		if s.Baked["base"], err = baseDigest(); err != nil {
			return nil, err
		}
	}
	img, err := image.Compute(ctx, p, s, func(prefix, identity string) string { return prefix + ":" + identity })
	if err != nil {
		return nil, err
	}
	if b.Dockerfile == "" {
		if err := static(img.Runner); err != nil {
			return nil, err
		}
	}
	_, platform, _ := b.target()
	return &builtImage{backend: b, image: img, platform: *platform, program: p.Name()}, nil
}

// find chooses the image of a program's sandboxes. What follows from the sources is computed once
// in a process: edits after the first call count from the next start on.
func (b Backend) find(ctx context.Context, p driver.Program) (string, driver.Image, error) {
	return image.Find(ctx, p, b.settings(), func(ctx context.Context) (driver.Image, error) {
		root, err := p.Root()
		if err != nil {
			return nil, err
		}
		s := b.settings()
		key := fmt.Sprintf("docker image %s %s %s %s %+v", p.Name(), root, s.Prefix, s.Dockerfile, s.Target)
		computed, err := registry.Once(ctx, key, func(ctx context.Context) (*builtImage, error) { return b.compute(ctx, p) })
		if err != nil {
			return nil, err
		}
		own := *computed
		own.backend = b // which may have another engine
		return &own, nil
	})
}

func (b Backend) settings() image.Settings {
	target, _, _ := b.target()
	return image.Settings{
		Backend: Name, Prefix: b.repository(), Dockerfile: b.Dockerfile, Target: target,
		Pinned: b.Pinned, AutoBuild: b.AutoBuild,
	}
}

// target is what runners are built for, and the same in the engine's form.
func (b Backend) target() (driver.Target, *ocispecs.Platform, error) {
	p := ocispecs.Platform{OS: "linux", Architecture: runtime.GOARCH}
	if b.Platform != "" {
		var err error
		if p, err = platforms.Parse(b.Platform); err != nil {
			return driver.Target{}, &p, fmt.Errorf("docker.Backend.Platform: %w", err)
		}
		if p.OS != "linux" {
			return driver.Target{}, &p, fmt.Errorf("docker.Backend.Platform: %q: runners in containers run on Linux", b.Platform)
		}
	}
	return driver.Target{OS: p.OS, Arch: p.Architecture, Build: b.Build}, &p, nil
}

// static makes sure that a runner needs no libraries, of which the base has none.
func static(runner string) error {
	f, err := elf.Open(runner)
	if err != nil {
		return fmt.Errorf("docker: the runner %s is no Linux program: %w", runner, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("docker.Backend.Build.CGO: the runner is linked with the C library, which an image without a Dockerfile does not have: leave CGO false, or name in docker.Backend.Dockerfile one whose base has that library")
		}
	}
	return nil
}

// builtImage is an image that is made here.
type builtImage struct {
	backend  Backend
	image    *image.Image
	platform ocispecs.Platform
	program  string
}

// Name implements driver.Image.
func (i *builtImage) Name() string { return i.image.Name }

// Parts implements driver.Image.
func (i *builtImage) Parts() []driver.Part { return i.image.Parts }

// Ready implements driver.Image.
func (i *builtImage) Ready(ctx context.Context) (bool, error) {
	e, err := i.backend.connect(ctx)
	if err != nil {
		return false, err
	}
	defer e.close()
	_, err = e.ImageInspect(ctx, i.Name())
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil, e.explain(err)
}

// buildLog is where a build that a call needs reports: the terminal, if there is one.
func buildLog() io.Writer {
	if isatty.IsTerminal(os.Stderr.Fd()) {
		return os.Stderr
	}
	return io.Discard
}
