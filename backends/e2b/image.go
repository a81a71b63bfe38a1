//go:build !remotebox_runner

package e2b

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/image"
)

// recipe is the version of how templates are made of what decides their names. Another recipe gives
// other names.
const recipe = "2"

// settings are what the backend value says about its images. Nothing that is secret or of a sandbox
// alone is among them.
func (c *config) settings() image.Settings {
	baked := map[string]string{
		"recipe": recipe, "cpu": strconv.Itoa(c.CPUs), "memory": strconv.Itoa(c.MemoryMB),
		"start-cmd": c.StartCmd, "ready-cmd": c.ReadyCmd,
	}
	switch {
	case c.BaseTemplate != "":
		baked["base-template"] = c.BaseTemplate
	case c.Dockerfile == "":
		baked["base-image"] = cmp.Or(c.BaseImage, defaultBase)
	}
	return image.Settings{
		Backend: name, Prefix: c.TemplatePrefix, Dockerfile: c.Dockerfile, Baked: baked,
		Target: c.target(), Pinned: c.Template, AutoBuild: c.AutoBuild,
	}
}

// Image implements driver.Imager.
func (b Backend) Image(ctx context.Context, p driver.Program) (driver.Image, error) {
	c, err := b.keyless()
	if err != nil {
		return nil, err
	}
	return c.image(ctx, p)
}

func (c *config) image(ctx context.Context, p driver.Program) (driver.Image, error) {
	made, err := image.Compute(ctx, p, c.settings(), nil)
	if err != nil {
		return nil, err
	}
	return &template{c: c, made: made}, nil
}

// template is a program's image.
type template struct {
	c    *config
	made *image.Image
}

// Name implements driver.Image.
func (t *template) Name() string { return t.made.Name }

// Parts implements driver.Image.
func (t *template) Parts() []driver.Part { return t.made.Parts }

// Ready implements driver.Image. A name exists from the moment that its first build is asked for; a
// name with a tag exists once there is a ready build (E2B API, template aliases).
func (t *template) Ready(ctx context.Context) (bool, error) {
	if t.c.debug {
		return true, nil
	}
	if err := t.c.dial(); err != nil {
		return false, err
	}
	_, err := t.c.api.Do(ctx, &httpapi.Request{
		Method: http.MethodGet, Path: "/templates/aliases/" + url.PathEscape(t.Name()+":default"), Retry: httpapi.Idempotent,
	}, nil)
	if httpapi.Status(err) == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}

// Build implements driver.Image.
func (t *template) Build(ctx context.Context, log io.Writer) error {
	if t.c.debug {
		return nil
	}
	if err := t.c.dial(); err != nil {
		return err
	}
	b := &builder{template: t, log: newBuildLog(log)}
	return b.build(ctx)
}
