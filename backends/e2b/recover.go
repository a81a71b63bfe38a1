//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/httpapi"
)

// refusalTries is how often a request is sent that was turned away on its way to the sandbox.
const refusalTries = 8

// delivered sends a request to the sandbox until it gets there: f is called again after refusals
// that say that the sandbox has not seen it. A sandbox that somebody has paused is resumed. f's
// other errors are returned as they are.
func (s *sandbox) delivered(ctx context.Context, f func() error) error {
	for try := 0; ; try++ {
		err := f()
		r, ok := errors.AsType[*refusal](err)
		if !ok || ctx.Err() != nil {
			return err
		}
		if err := s.overcome(ctx, r, try); err != nil {
			return err
		}
	}
}

// overcome returns nil once it is worth sending a refused request again, or why it is not.
func (s *sandbox) overcome(ctx context.Context, r *refusal, try int) error {
	wait := httpapi.Backoff(try)
	switch {
	case r.status == http.StatusBadGateway && r.proxy, r.status == http.StatusForbidden && r.proxy:
		// "The sandbox was not found" is said of sandboxes that are gone, of paused ones and now and
		// then of running ones; "port is not open" while the agent comes up.
		if err := s.wake(ctx); err != nil {
			return err
		}
	case r.status == http.StatusConflict: // between two states
	case r.status == http.StatusTooManyRequests:
		if r.asked {
			wait = r.wait
		}
		if try == refusalTries-1 || wait > maxRefusalWait {
			return &remote.LimitError{Backend: name, Message: r.message, Wait: r.wait}
		}
	case r.status == http.StatusUnauthorized && try == 0:
		a, err := s.c.detail(ctx, s.id) // the token may have changed
		if err != nil {
			return err
		}
		s.envd.setToken(a.AccessToken)
		return nil
	default:
		return fmt.Errorf("E2B sandbox %s: %w", s.id, r)
	}
	if try >= refusalTries-1 {
		return fmt.Errorf("E2B sandbox %s: %w", s.id, r)
	}
	if !sleep(ctx, wait) {
		return ctx.Err()
	}
	return nil
}

// maxRefusalWait is the longest wait that is worth it before a request to a sandbox.
const maxRefusalWait = 30 * time.Second

// wake asks what has become of the sandbox: gone is an error, paused is resumed.
func (s *sandbox) wake(ctx context.Context) error {
	a, err := s.c.detail(ctx, s.id)
	if err != nil {
		return err
	}
	if a.State == statePaused {
		return s.Resume(ctx)
	}
	return nil
}
