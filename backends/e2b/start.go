//go:build !remotebox_runner

package e2b

import (
	"context"
	"fmt"
	"os"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/image"
	"github.com/remote-box/remote/internal/rand"
)

// Start implements driver.Backend.
func (b Backend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	c, err := b.config()
	if err != nil {
		return nil, err
	}
	s := c.settings()
	template, img, err := image.Find(ctx, spec.Program, s, func(ctx context.Context) (driver.Image, error) {
		return c.image(ctx, spec.Program)
	})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Most of the time the template is there: asking first would be one more request for each call.
	a, made, err := c.obtain(ctx, template, spec)
	if missing(err) {
		if img == nil {
			return nil, missingImage(template)
		}
		if err := image.Ensure(ctx, s, img, c.log); err != nil {
			return nil, err
		}
		a, made, err = c.obtain(ctx, template, spec)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("making an E2B sandbox of %s: %w", template, err)
	}
	sb := newSandboxOf(c, a, template)
	if c.debug {
		if err := sb.installRunner(ctx, spec.Program); err != nil {
			return nil, err
		}
	}
	sb.tidy(made)
	sb.postCreate()
	return sb, nil
}

// Attach implements driver.Backend. It reads back the token with which sandboxes are secured, so
// that refs need not hold it.
func (b Backend) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	c, err := b.config()
	if err != nil {
		return nil, err
	}
	if !validID(id) {
		return nil, fmt.Errorf("%.40q is not the id of an E2B sandbox", id)
	}
	a, err := c.connect(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("attaching to an E2B sandbox: %w", err)
	}
	s := newSandboxOf(c, a, spec.Image)
	if err := s.revived(ctx); err != nil {
		return nil, fmt.Errorf("attaching to an E2B sandbox: %w", err)
	}
	return s, nil
}

// installRunner puts the runner into the sandbox of a bare agent, which has no template.
func (s *sandbox) installRunner(ctx context.Context, p driver.Program) error {
	path, err := p.Runner(ctx, s.c.target())
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s.runner = "/tmp/.remote-box-runner-" + rand.Text(8)
	if err := s.WriteFile(ctx, s.runner, f); err != nil {
		return err
	}
	// Uploads are not executable (envd, files).
	st, err := s.Exec(ctx, &driver.Command{Args: []string{"/bin/chmod", "0755", s.runner}})
	if err == nil && st.Code != 0 {
		err = fmt.Errorf("chmod of the runner ended with %+v", st)
	}
	return err
}
