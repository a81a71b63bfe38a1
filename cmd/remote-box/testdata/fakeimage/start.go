//go:build !remotebox_runner

package fakeimage

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/image"
	"github.com/remote-box/remote/internal/local"
)

// Start implements driver.Backend.
func (b Backend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	s := b.settings()
	name, img, err := image.Find(ctx, spec.Program, s, func(ctx context.Context) (driver.Image, error) {
		return b.Image(ctx, spec.Program)
	})
	if err != nil {
		return nil, err
	}
	if img != nil {
		if err := image.Ensure(ctx, s, img, io.Discard); err != nil {
			return nil, err
		}
	}
	if !exists(name) {
		return nil, &remote.MissingImageError{Backend: b.Name(), Image: name}
	}
	spec.Program = fromImage{spec.Program, filepath.Join(directory(name), "runner")}
	sb, err := local.Start(ctx, local.Config{Env: b.Env}, spec)
	if err != nil {
		return nil, err
	}
	return sandbox{sb.(driver.Local), name}, nil
}

// Attach implements driver.Backend.
func (b Backend) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	return local.Attach(ctx, local.Config{Env: b.Env}, id, spec)
}

// sandbox is a local one that knows its image.
type sandbox struct {
	driver.Local
	image string
}

func (s sandbox) Image() string { return s.image }

// fromImage is a program whose runner is in an image.
type fromImage struct {
	driver.Program
	runner string
}

func (p fromImage) Runner(context.Context, driver.Target) (string, error) { return p.runner, nil }

func directory(image string) string { return filepath.Join(os.Getenv("FAKE_IMAGES"), image) }

func exists(image string) bool {
	_, err := os.Stat(directory(image))
	return image != "" && err == nil
}
