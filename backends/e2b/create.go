//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
	"github.com/remote-box/remote/internal/rand"
)

// requestKey is the metadata that a creation is found by whose answer was lost.
const requestKey = "remote-box-request"

const (
	createTime = 90 * time.Second // E2B's handlers end after 70 s
	// createGrace is how long an answer is still waited for that nobody wants any more.
	createGrace = 10 * time.Second
)

// obtain makes a sandbox of a template. When it can't, or when ctx ends meanwhile, it waits for what it
// has begun and removes it.
func (c *config) obtain(ctx context.Context, template string, spec driver.Spec) (*sandboxAnswer, *creation, error) {
	if c.debug {
		return debugSandbox(), nil, nil
	}
	// An answer that nobody waits for would leave a sandbox behind.
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if pause.For(lasting, createGrace) {
			cancel()
		}
	})()
	m := &creation{c: c, body: c.describe(template, spec)}
	a, err := m.make(lasting, ctx.Done())
	if httpapi.Status(err) == http.StatusBadRequest && c.TTL > time.Hour {
		err = fmt.Errorf("%w (e2b.Backend.TTL is %v; the plan may allow for less)", err, c.TTL)
	}
	if err == nil && ctx.Err() == nil {
		return a, m, nil
	}
	clean, stop := context.WithTimeout(context.WithoutCancel(ctx), createTime)
	defer stop()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if left := m.remove(clean, a); left != nil {
		err = errors.Join(err, left)
	}
	return nil, nil, err
}

func (c *config) describe(template string, spec driver.Spec) *newSandbox {
	n := &newSandbox{
		TemplateID: template, Timeout: c.ttl(), Secure: true, EnvVars: c.Env,
		Metadata: map[string]string{}, Network: c.network(),
		// The sandbox of a single call is closed right after it; if that fails, nobody will ever
		// resume it.
		AutoPause: c.AutoPause && !spec.Once,
	}
	if n.AutoPause {
		n.AutoResume = &autoResume{Enabled: true}
	}
	for k, v := range spec.Labels {
		n.Metadata[k] = v
	}
	for k, v := range c.Metadata {
		n.Metadata[k] = v
	}
	n.Metadata["remote-box-image"] = template
	n.Metadata[requestKey] = rand.Text(26)
	return n
}

// missing reports whether a creation failed because its template does not exist, or has no ready
// build.
func missing(err error) bool {
	e, ok := errors.AsType[*httpapi.Error](err)
	return ok && e.Status == http.StatusNotFound && (strings.Contains(e.Message, "not found") || strings.Contains(e.Message, "does not exist"))
}

// missingImage is the error for a template that can't be built here.
func missingImage(template string) error {
	return &remote.MissingImageError{Backend: name, Image: template}
}
