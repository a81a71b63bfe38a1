//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

// newSandbox is the schema NewSandbox. The first version of the path is used, because every server
// has it.
type newSandbox struct {
	TemplateID string            `json:"templateID"`
	Timeout    int               `json:"timeout"`
	Secure     bool              `json:"secure"`
	Metadata   map[string]string `json:"metadata"`
	EnvVars    map[string]string `json:"envVars,omitempty"`
	AutoPause  bool              `json:"autoPause,omitempty"`
	AutoResume *autoResume       `json:"autoResume,omitempty"`
	Network    *wireNetwork      `json:"network,omitempty"`
}

type autoResume struct {
	Enabled bool `json:"enabled"`
}

// sandboxAnswer is what is needed of the schemas Sandbox, SandboxDetail and ListedSandbox.
type sandboxAnswer struct {
	SandboxID   string    `json:"sandboxID"`
	TemplateID  string    `json:"templateID"`
	Domain      string    `json:"domain"`
	AccessToken string    `json:"envdAccessToken"`
	EnvdVersion string    `json:"envdVersion"`
	State       string    `json:"state"` // running or paused; not in the answer to a creation
	EndAt       time.Time `json:"endAt"` // likewise
	Lifecycle   struct {
		OnTimeout string `json:"onTimeout"` // kill or pause
	} `json:"lifecycle"` // of a SandboxDetail
}

const statePaused = "paused"

func sandboxPath(id, op string) string { return "/sandboxes/" + url.PathEscape(id) + op }

// create makes a sandbox. It is sent again only where nothing can have been made.
func (c *config) create(ctx context.Context, body *newSandbox) (*sandboxAnswer, error) {
	var a sandboxAnswer
	_, err := c.api.Do(ctx, &httpapi.Request{Method: http.MethodPost, Path: "/sandboxes", JSON: body, Retry: httpapi.Unprocessed}, &a)
	if err == nil && a.SandboxID == "" {
		err = &httpapi.Error{Op: "POST /sandboxes", Message: "an answer without a sandbox's id"}
	}
	return &a, err
}

// connect resumes a paused sandbox, and gives a running one at least its whole TTL.
func (c *config) connect(ctx context.Context, id string) (*sandboxAnswer, error) {
	if c.debug {
		return debugSandbox(), nil
	}
	var a sandboxAnswer
	for try := 0; ; try++ {
		_, err := c.api.Do(ctx, &httpapi.Request{
			Method: http.MethodPost, Path: sandboxPath(id, "/connect"),
			JSON: map[string]int{"timeout": c.ttl()}, Retry: httpapi.Idempotent,
		}, &a)
		switch {
		case httpapi.Status(err) == http.StatusConflict && try < settleTries: // on its way into or out of a pause, or being killed
			if !pause.For(ctx, httpapi.Backoff(try)) {
				return nil, ctx.Err()
			}
			continue
		case httpapi.Status(err) == http.StatusNotFound:
			return nil, gone(id, err)
		case err == nil && a.SandboxID == "":
			err = errors.New("an answer without a sandbox's id")
		}
		return &a, err
	}
}

// settleTries is how often something that is between two states is asked again.
const settleTries = 8

// detail asks what has become of a sandbox.
func (c *config) detail(ctx context.Context, id string) (*sandboxAnswer, error) {
	if c.debug {
		return debugSandbox(), nil
	}
	var a sandboxAnswer
	_, err := c.api.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: sandboxPath(id, ""), Retry: httpapi.Idempotent}, &a)
	if httpapi.Status(err) == http.StatusNotFound {
		err = gone(id, err)
	}
	return &a, err
}

// kill destroys a sandbox, a paused one too. One that is gone is no error. It is tried for longer
// than other requests: what is left over costs money.
func (c *config) kill(ctx context.Context, id string) error {
	if c.debug {
		return nil
	}
	for try := 0; ; try++ {
		_, err := c.api.Do(ctx, &httpapi.Request{Method: http.MethodDelete, Path: sandboxPath(id, ""), Retry: httpapi.Idempotent}, nil)
		status := httpapi.Status(err)
		if status == http.StatusNotFound {
			return nil
		}
		_, limited := errors.AsType[*remote.LimitError](err)
		passing := limited || status >= 500 || doubtful(err)
		if err == nil || !passing || try == killTries || !pause.For(ctx, httpapi.Backoff(try)) {
			return err
		}
	}
}

// killTries is how often all of a kill's repetitions are repeated.
const killTries = 3

// pause returns when memory and files are kept. A sandbox that is paused is no error.
func (c *config) pause(ctx context.Context, id string) error {
	if c.debug {
		return nil
	}
	for try := 0; ; try++ {
		_, err := c.api.Do(ctx, &httpapi.Request{Method: http.MethodPost, Path: sandboxPath(id, "/pause"), JSON: struct{}{}, Retry: httpapi.Idempotent}, nil)
		switch httpapi.Status(err) {
		case http.StatusNotFound:
			return gone(id, err)
		case http.StatusConflict: // paused, or on its way
			a, derr := c.detail(ctx, id)
			if derr != nil || a.State == statePaused {
				return derr
			}
			if try < settleTries && pause.For(ctx, httpapi.Backoff(try)) {
				continue
			}
		}
		return err
	}
}

// What POST refreshes takes, in seconds.
const (
	minRefresh = 15
	maxRefresh = 3600
)

// extend sees to it that the sandbox lives for its whole TTL from now on. It never shortens a lifetime:
// others who use the sandbox may have asked for a longer one.
func (c *config) extend(ctx context.Context, id string) error {
	if c.debug {
		return nil
	}
	if ttl := c.ttl(); ttl >= minRefresh && ttl <= maxRefresh {
		_, err := c.api.Do(ctx, &httpapi.Request{
			Method: http.MethodPost, Path: sandboxPath(id, "/refreshes"), JSON: map[string]int{"duration": ttl}, Retry: httpapi.Idempotent,
		}, nil)
		return err
	}
	// Other lengths can only be set, to whatever was asked for.
	a, err := c.detail(ctx, id)
	if err != nil || time.Until(a.EndAt) >= c.TTL {
		return err
	}
	_, err = c.api.Do(ctx, &httpapi.Request{
		Method: http.MethodPost, Path: sandboxPath(id, "/timeout"), JSON: map[string]int{"timeout": c.ttl()}, Retry: httpapi.Idempotent,
	}, nil)
	return err
}

// findByRequest lists the sandboxes that a creation with this request id has made.
func (c *config) findByRequest(ctx context.Context, request string) ([]sandboxAnswer, error) {
	var list []sandboxAnswer
	// The server unescapes the value once more than HTTP does, before it takes it apart (E2B API,
	// sandbox list). A request id needs no escaping.
	q := url.Values{"metadata": {requestKey + "=" + request}, "state": {"running,paused"}}
	_, err := c.api.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/v2/sandboxes", Query: q, Retry: httpapi.Idempotent}, &list)
	return list, err
}

// gone is the error of a sandbox that no longer exists.
func gone(id string, err error) error {
	return fmt.Errorf("%w: E2B sandbox %s was destroyed or has expired (%w)", driver.ErrSandboxGone, id, err)
}

// validID reports whether id has the form of E2B's: letters and digits, and for old servers a dash.
func validID(id string) bool {
	const chars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return id != "" && len(id) <= 128 && strings.Trim(id, chars) == ""
}

// debugID is what E2B's SDKs call the only sandbox under E2B_DEBUG.
const debugID = "debug_sandbox_id"

func debugSandbox() *sandboxAnswer {
	return &sandboxAnswer{SandboxID: debugID, State: "running"}
}
