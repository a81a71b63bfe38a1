//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/rand"
)

// requestKey is the metadata that a creation is found by whose answer was lost.
const requestKey = "remote-box-request"

const (
	createTime = 90 * time.Second // E2B's handlers end after 70 s
	// createGrace is how long an answer is still waited for that nobody wants any more.
	createGrace = 10 * time.Second
	createTries = 3
	// findTries is how often a sandbox is looked for whose creation had no answer: the server may
	// still be at it.
	findTries = 6
)

// obtain makes a sandbox of a template. When ctx ends meanwhile, it waits for what it has begun and
// removes it.
func (c *config) obtain(ctx context.Context, template string, spec driver.Spec) (*sandboxAnswer, error) {
	if c.debug {
		return debugSandbox(), nil
	}
	// An answer that nobody waits for would leave a sandbox behind.
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		if sleep(lasting, createGrace) {
			cancel()
		}
	})()
	n := c.describe(template, spec)
	a, err := c.makeSurely(lasting, n, ctx.Done())
	if ctx.Err() == nil {
		return a, err
	}
	clean, stop := context.WithTimeout(context.WithoutCancel(ctx), createTime)
	defer stop()
	if err != nil && doubtful(err) {
		a, err = c.findMade(clean, n.Metadata[requestKey])
	}
	if err == nil && a != nil {
		return nil, errors.Join(ctx.Err(), c.kill(clean, a.SandboxID))
	}
	return nil, ctx.Err()
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

// makeSurely makes one sandbox, no more and no less, whatever happens to the answers. Once unwanted
// is closed, it does not begin anew.
func (c *config) makeSurely(ctx context.Context, n *newSandbox, unwanted <-chan struct{}) (*sandboxAnswer, error) {
	for try := 0; ; try++ {
		a, err := c.create(ctx, n)
		if err == nil || !doubtful(err) {
			return a, err
		}
		found, ferr := c.findMade(ctx, n.Metadata[requestKey])
		if ferr != nil {
			return nil, errors.Join(err, ferr)
		}
		if found != nil {
			return found, nil
		}
		select {
		case <-unwanted:
			return nil, err
		default:
		}
		if try == createTries-1 {
			return nil, err
		}
	}
}

// doubtful reports whether a failed creation may have made a sandbox.
func doubtful(err error) bool {
	if e, ok := errors.AsType[*httpapi.Error](err); ok {
		return e.Doubtful()
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// findMade finds the sandbox that a creation without an answer has made; nil if there is none. If
// there are several, because a proxy has sent the request twice, one is left.
func (c *config) findMade(ctx context.Context, request string) (*sandboxAnswer, error) {
	for try := range findTries {
		if !sleep(ctx, httpapi.Backoff(try)) {
			break
		}
		list, err := c.findByRequest(ctx, request)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			continue
		}
		for _, other := range list[1:] {
			if err := c.kill(ctx, other.SandboxID); err != nil {
				return nil, err
			}
		}
		a, err := c.detail(ctx, list[0].SandboxID) // it tells the token too
		if errors.Is(err, driver.ErrSandboxGone) {
			return nil, nil
		}
		return a, err
	}
	return nil, nil
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

// sleep waits for d; false means that ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
