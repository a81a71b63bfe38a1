//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/httpapi"
)

// zombieAfter is how long a sandbox that is said to be running may fail to answer until something is
// done about it. It is long beside the time that a sandbox needs to answer after its start.
func (b Backend) zombieAfter() time.Duration { return min(15*time.Second, b.createTimeout()/4) }

// bringUp makes the sandbox run and answer, whatever state it is in; info is what is known about it,
// or nil. The caller holds life.
func (s *sandbox) bringUp(ctx context.Context, info *sandboxInfo, fresh bool) error {
	s.forget()
	restarted := fresh // a new sandbox may take long; it is given up, not restarted
	quiet := &s.quiet  // whoever asks again and again is not to wait as long each time
	var last error     // why it does not answer
	var p pace
	for ; ; info = nil {
		if info == nil {
			var err error
			if info, err = s.api.sandbox(ctx, s.id); err != nil {
				return err
			}
		}
		if info.gone() {
			return fmt.Errorf("daytona: %w: the sandbox %s has been deleted", errGone, s.id)
		}
		switch info.State {
		case "started":
			w, err := s.newWorker(ctx)
			if err == nil {
				*quiet = silence{}
				s.keep(w)
				return nil
			}
			if !deaf(err) {
				return s.explain(ctx, err)
			}
			last = err
			quiet.add(err, &s.pulse)
			after := s.backend.zombieAfter()
			switch {
			case !lifeless(err) && time.Since(quiet.since) >= after, !fresh && !quiet.lasted(after) && time.Since(quiet.since) >= 2*after:
				return s.unreachable(ctx, err)
			case fresh || !quiet.lasted(after):
			case restarted:
				return fmt.Errorf("daytona: %w: the sandbox %s is said to be running, but does not answer: %w", errGone, s.id, err)
			default:
				// What is left of it are its files.
				if err := s.act(ctx, "stop", url.Values{"force": {"true"}}); err != nil {
					return err
				}
				*quiet, restarted = silence{}, true
			}
		case "stopped", "paused", "archived":
			*quiet = silence{}
			if err := s.act(ctx, "start", nil); err != nil {
				return err
			}
		case "error", "build_failed":
			switch {
			case fresh:
				return info.failed()
			case !info.Recoverable || restarted:
				return fmt.Errorf("%w: %w", errGone, info.failed()) // it stays like that
			}
			restarted = true
			if err := s.act(ctx, "recover", nil); err != nil {
				return errors.Join(info.failed(), err)
			}
		}
		if !p.wait(ctx) {
			if info.State == "started" && last != nil {
				return fmt.Errorf("daytona: the sandbox %s is said to be running, but takes no requests (%v): %w", s.id, last, ctx.Err())
			}
			return fmt.Errorf("daytona: the sandbox %s is still in state %s: %w", s.id, info.State, ctx.Err())
		}
	}
}

// bringDown stops, pauses or archives the sandbox. The caller holds life.
func (s *sandbox) bringDown(ctx context.Context, action, state string) error {
	var p pace
	for {
		info, err := s.api.sandbox(ctx, s.id)
		if err != nil {
			return err
		}
		switch {
		case info.gone():
			return fmt.Errorf("daytona: %w: the sandbox %s has been deleted", errGone, s.id)
		case info.State == state, info.State == "archived", info.State == "stopped" && action == "pause":
			return nil
		case info.failed() != nil:
			return info.failed()
		case info.State == "started", info.State == "paused" && action == "stop", info.State == "stopped" && action == "archive":
			if err := s.act(ctx, action, nil); err != nil {
				return err
			}
		}
		if !p.wait(ctx) {
			return fmt.Errorf("daytona: the sandbox %s is still in state %s: %w", s.id, info.State, ctx.Err())
		}
	}
}

// act asks for a change of state. That something else is being done to the sandbox, or that it has
// left the state that the change begins with, is no error: whoever looks again will see.
func (s *sandbox) act(ctx context.Context, action string, query url.Values) error {
	err := s.api.act(ctx, s.id, action, query)
	if busy(err) || says(err, http.StatusBadRequest, "not in a stoppable state", "is not started", "not in valid state", "is not stopped") {
		return nil
	}
	return err
}

// deaf reports whether err says that the toolbox can't be reached: the sandbox is starting,
// stopping or stopped, or nothing runs in it any more. Nothing of the request was carried out if
// it was refused with 400, 401 or 404.
func deaf(err error) bool {
	if _, refused := errors.AsType[*remote.CredentialError](err); refused {
		return true // what the proxy says about sandboxes that it does not know
	}
	e, ok := asError(err)
	if !ok {
		return false
	}
	switch e.Status {
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusBadRequest:
		return says(err, http.StatusBadRequest, unstarted...)
	case http.StatusNotFound:
		return says(err, http.StatusNotFound, "container not found", "sandbox")
	}
	return false
}

// unreachable is the error of a sandbox that runs as far as anybody knows, and can't be reached from
// here. Nothing was done to it.
func (s *sandbox) unreachable(ctx context.Context, err error) error {
	if err = s.explain(ctx, err); ctx.Err() != nil || errors.Is(err, errGone) {
		return err
	}
	return fmt.Errorf("daytona: the sandbox %s is running, but its toolbox can't be reached from here: %w", s.id, err)
}

// explain says why the toolbox could not be reached: the control plane knows whether the sandbox
// still exists and whether the key is good, which the proxy's answers do not tell apart.
func (s *sandbox) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !deaf(err) {
		return err
	}
	info, asked := s.api.sandbox(ctx, s.id)
	switch {
	case errors.Is(asked, errGone):
		return asked
	case asked != nil:
		return errors.Join(err, asked)
	case info.gone():
		return fmt.Errorf("daytona: %w: the sandbox %s has been deleted", errGone, s.id)
	}
	if _, refused := errors.AsType[*remote.CredentialError](err); refused {
		return &httpapi.Error{Op: "toolbox of " + s.id, Message: "the proxy refuses a key that the API accepts", Status: http.StatusBadGateway}
	}
	return err
}
