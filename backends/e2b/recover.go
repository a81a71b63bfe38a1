//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

// delivered sends a request to the sandbox until it gets there: f, which may be carried out twice, is
// called again after refusals that may pass. A sandbox that somebody has paused is resumed. f's other
// errors are returned as they are.
func (s *sandbox) delivered(ctx context.Context, f func() error) error {
	return s.deliver(ctx, true, f)
}

// deliveredOnce is delivered for what must not be carried out twice: f is called again only if the
// sandbox has certainly not seen it.
func (s *sandbox) deliveredOnce(ctx context.Context, f func() error) error {
	return s.deliver(ctx, false, f)
}

func (s *sandbox) deliver(ctx context.Context, twice bool, f func() error) error {
	for try := 0; ; try++ {
		err := f()
		r, ok := errors.AsType[*refusal](err)
		if !ok {
			s.outage.over()
		}
		if !ok || ctx.Err() != nil {
			return err
		}
		if r.unanswered && !twice {
			return fmt.Errorf("E2B sandbox %s: it may have begun or not: %w", s.id, r)
		}
		if err := s.overcome(ctx, r, try); err != nil {
			return err
		}
	}
}

// overcome returns nil once it is worth sending a refused request again, or why it is not.
func (s *sandbox) overcome(ctx context.Context, r *refusal, try int) error {
	if !r.passing() {
		if r.status == http.StatusUnauthorized && try == 0 {
			a, err := s.c.detail(ctx, s.id) // the token may have changed
			if err == nil {
				s.envd.setToken(a.AccessToken)
			}
			return err
		}
		return fmt.Errorf("E2B sandbox %s: %w", s.id, r)
	}
	wait := httpapi.Backoff(try)
	if r.asked {
		wait = r.wait
	}
	spent := s.outage.refused()
	switch {
	case r.status == http.StatusTooManyRequests && (spent || wait > maxRefusalWait):
		return &remote.LimitError{Backend: name, Message: r.message, Wait: r.wait}
	case spent && r.notFound():
		return gone(s.id, r)
	case spent:
		return &unreachable{s.id, r}
	case r.status == http.StatusBadGateway, r.status == http.StatusForbidden:
		if err := s.wake(ctx); err != nil {
			return err
		}
	}
	if !pause.For(ctx, wait) {
		return ctx.Err()
	}
	return nil
}

// maxRefusalWait is the longest wait that is worth it before a request to a sandbox.
const maxRefusalWait = 30 * time.Second

// passing reports whether the refusal may be gone the next time: the proxy's, of a sandbox between two
// states, and of limits. "The sandbox was not found" is said of sandboxes that are gone, of paused ones
// and now and then of running ones; "port is not open" while the agent comes up, and when an answer of
// the agent's was lost.
func (r *refusal) passing() bool {
	switch r.status {
	case http.StatusBadGateway, http.StatusForbidden:
		return r.proxy
	case http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return false
}

// notFound reports whether the proxy knows no such sandbox.
func (r *refusal) notFound() bool {
	return r.proxy && r.status == http.StatusBadGateway && !r.unanswered
}

// unreachable is a sandbox that exists, but has refused requests for too long.
type unreachable struct {
	id  string
	err error
}

func (e *unreachable) Error() string {
	return fmt.Sprintf("E2B sandbox %s can't be reached for %v: %v", e.id, outageTime, e.err)
}
func (e *unreachable) Unwrap() error { return e.err }

// final reports whether err says that there is no point in trying to reach the sandbox again.
func final(err error) bool {
	_, limited := errors.AsType[*remote.LimitError](err)
	_, far := errors.AsType[*unreachable](err)
	return limited || far || errors.Is(err, driver.ErrSandboxGone)
}

// wake asks what has become of the sandbox: gone is an error, paused is resumed. Where E2B can't be
// asked, nothing is known.
func (s *sandbox) wake(ctx context.Context) error {
	a, err := s.c.detail(ctx, s.id)
	if err == nil && (a.State == statePaused || s.outage.connect()) {
		err = s.Resume(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if final(err) {
		return err
	}
	return nil
}

// healthTries is how often the agent of a sandbox that was connected to is asked whether it is there.
const healthTries = 8

// healthy waits for the sandbox's agent.
func (s *sandbox) healthy(ctx context.Context) error {
	for try := 0; ; try++ {
		err := s.probe(ctx)
		r, refused := errors.AsType[*refusal](err)
		switch {
		case err == nil || refused && !r.passing():
			return nil // it answers
		case ctx.Err() != nil:
			return ctx.Err()
		case try < healthTries-1:
		case refused && r.notFound():
			return gone(s.id, r)
		default:
			return fmt.Errorf("E2B sandbox %s does not answer: %w", s.id, err)
		}
		if !pause.For(ctx, httpapi.Backoff(try)) {
			return ctx.Err()
		}
	}
}

// probe asks the agent whether it is there.
func (s *sandbox) probe(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.envd.base+"/health", nil)
	if err != nil {
		return err
	}
	for k, v := range s.envd.header() {
		req.Header[k] = v
	}
	resp, err := s.envd.send(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
