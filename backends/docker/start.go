//go:build !remotebox_runner

package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/image"
)

// Start implements driver.Backend.
func (b Backend) Start(ctx context.Context, spec driver.Spec) (_ driver.Sandbox, err error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	e, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	name, img, err := b.find(ctx, spec.Program)
	if err != nil {
		return nil, err
	}
	e.sweep(ctx)
	s, err := b.create(ctx, e, name, spec)
	if errdefs.IsNotFound(err) && e.lacks(ctx, name) {
		// The image is looked for when it turns out to be missing, not before every start.
		if err = b.provide(ctx, e, name, img); err != nil {
			return nil, err
		}
		s, err = b.create(ctx, e, name, spec)
	}
	if err != nil {
		return nil, e.explain(err)
	}
	return s, nil
}

// provide makes an image available that the engine does not have.
func (b Backend) provide(ctx context.Context, e *engine, name string, img driver.Image) error {
	switch {
	case img != nil:
		return image.Ensure(ctx, b.settings(), img, buildLog())
	case b.Pinned != "":
		_, platform, err := b.target()
		if err != nil {
			return err
		}
		return e.pull(ctx, name, *platform)
	}
	return &remote.MissingImageError{Backend: Name, Image: name}
}

// Attach implements driver.Backend. The id is a container's name.
func (b Backend) Attach(ctx context.Context, id string, spec driver.Spec) (_ driver.Sandbox, err error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	// The id comes from a ref that anybody may have written.
	if !validID(id) {
		return nil, fmt.Errorf("%q is not the id of a %s sandbox", id, Name)
	}
	e, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.close()
		}
	}()
	c, err := e.inspect(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.Config == nil || c.Config.Labels[label] != "1" {
		return nil, errors.New("the container " + id + " was not made by remote-box")
	}
	s := &sandbox{engine: e, id: id, image: c.Config.Image}
	return s, s.Resume(ctx)
}
