//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/pause"
	"github.com/remote-box/remote/internal/rand"
)

// creation is the making of one sandbox. Its name, which nobody else has, is what finds it when an
// answer was lost, and what keeps a request that is sent again from making a second one.
type creation struct {
	backend Backend
	api     *api
	req     *createRequest
}

// launch makes a sandbox and waits until it can be used. After an error nothing is left of it.
func (b Backend) launch(ctx context.Context, a *api, snapshot string, spec driver.Spec) (_ *sandbox, err error) {
	c := &creation{backend: b, api: a, req: b.request("remote-box-"+rand.Text(20), snapshot, a.target, spec.Labels, spec.Once)}
	limited, cancel := context.WithTimeout(ctx, b.createTimeout())
	defer cancel()
	info, err := c.run(limited)
	if err != nil {
		return nil, c.late(ctx, err)
	}
	s, err := newSandbox(b, a, info, spec.Once)
	if err == nil {
		if err = s.begin(limited); err == nil {
			return s, nil
		}
		s.letGo()
	}
	return nil, c.late(ctx, errors.Join(err, c.undo(ctx, nil)))
}

// late names the limit that was reached if it was not the caller's.
func (c *creation) late(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("daytona: no sandbox of the snapshot %s has started within %v; a snapshot's first one has to be fetched, for which CreateTimeout may be raised", c.req.Snapshot, c.backend.createTimeout())
	}
	return err
}

// run sends the request until it is known what became of it.
func (c *creation) run(ctx context.Context) (*sandboxInfo, error) {
	for try := 0; ; try++ {
		info, err := c.post(ctx)
		if err == nil || ctx.Err() != nil {
			return info, err
		}
		if !says(err, http.StatusConflict) && !doubtful(err) {
			return nil, err
		}
		// It may exist. The request is sent again only under the same name.
		found, findErr := c.api.sandbox(ctx, c.req.Name)
		switch {
		case findErr == nil:
			return found, nil
		case !errors.Is(findErr, errGone) || try == 3:
			return nil, errors.Join(err, c.undo(ctx, nil))
		}
		if !pause.For(ctx, firstPause<<try) {
			return nil, errors.Join(ctx.Err(), c.undo(ctx, nil))
		}
	}
}

func doubtful(err error) bool {
	e, ok := asError(err)
	return ok && e.Doubtful()
}

// post sends the request once. Daytona goes on with it when the connection ends, so that the
// request is not cut off when ctx ends: what it makes could not be found otherwise.
func (c *creation) post(ctx context.Context) (*sandboxInfo, error) {
	type answer struct {
		info *sandboxInfo
		err  error
	}
	answered := make(chan answer, 1)
	done := make(chan struct{})
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		defer close(done)
		info, err := c.api.create(detached, c.req, c.backend.createTimeout()+undoTime)
		answered <- answer{info, err}
	}()
	select {
	case a := <-answered:
		return a.info, a.err
	case <-ctx.Done():
		err := errors.Join(ctx.Err(), c.undo(ctx, done))
		cancel()
		<-done
		return nil, err
	}
}

// undoTime is how long it may take to remove what was begun. Behind it is the sandbox's own
// expiry.
const undoTime = 30 * time.Second

// undo removes the sandbox if it exists, also when ctx has ended. While posting is not closed the
// request may still make it.
func (c *creation) undo(ctx context.Context, posting <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	var p pace
	for over := posting == nil; ; {
		_, err := c.api.sandbox(ctx, c.req.Name)
		if err == nil {
			err = c.api.remove(ctx, c.req.Name, false)
			if err == nil {
				return nil
			}
		}
		if over || ctx.Err() != nil {
			if errors.Is(err, errGone) {
				return nil
			}
			return fmt.Errorf("daytona: a sandbox named %s may be left: %w", c.req.Name, err)
		}
		select {
		case <-posting:
			over = true // what it has made can be found now
		default:
			p.wait(ctx)
		}
	}
}
