//go:build !remotebox_runner

package daytona

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/registry"
)

// api is the control plane.
type api struct {
	http   *httpapi.Client
	target string
}

// connect finds the control plane and a key. It sends nothing.
func (b Backend) connect(ctx context.Context) (*api, error) {
	c, err := b.credentials()
	if err != nil {
		return nil, err
	}
	transport, err := registry.Once(ctx, "daytona transport", newTransport)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Authorization": {"Bearer " + c.token}, "User-Agent": {"remote-box"}, "X-Daytona-Source": {"remote-box"}}
	if c.org != "" {
		header.Set("X-Daytona-Organization-ID", c.org)
	}
	return &api{
		http: &httpapi.Client{
			Base: c.url, Header: header, HTTP: &http.Client{Transport: transport},
			Credential: c.refused, Secrets: []string{c.token},
		},
		target: c.target,
	}, nil
}

// newTransport makes the transport that all backends of this process share. Daytona's proxy closes
// connections that were idle for 70 seconds, so that they are given up before. A whole request has
// no time limit here: transfers take as long as they need.
func newTransport(context.Context) (*http.Transport, error) {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}, nil
}

// chunked is v as a request's body of unknown length. Daytona's proxy repeats a request whose
// connection to the sandbox broke if it knows the body's length and that is at most 256 KiB: what
// must not be done twice is sent this way.
func chunked(r *httpapi.Request, v any) (*httpapi.Request, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	// Hidden from net/http, which would look at the length.
	r.Body = func() (io.Reader, error) { return io.MultiReader(bytes.NewReader(body)), nil }
	r.Length = -1
	r.Header = http.Header{"Content-Type": {"application/json"}}
	return r, nil
}

// refused gives errors of the control plane their types: quotas are told by text only.
func refused(err error) error {
	e, ok := asError(err)
	if !ok {
		return err
	}
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusPaymentRequired} {
		if says(err, status, "limit exceeded", "limit reached", "exceeds maximum", "quota") {
			return &remote.LimitError{Backend: Name, Message: e.Message}
		}
	}
	return err
}

// says reports whether err is an answer with the status and one of the texts.
func says(err error, status int, texts ...string) bool {
	e, ok := asError(err)
	if !ok || e.Status != status {
		return false
	}
	for _, t := range texts {
		if strings.Contains(strings.ToLower(e.Message), t) {
			return true
		}
	}
	return len(texts) == 0
}

// busy reports whether err says that something else is done to the sandbox at the moment: 409, and
// 400 in some deployments.
func busy(err error) bool {
	return says(err, http.StatusConflict) || says(err, http.StatusBadRequest, "state change in progress", "modified by another operation")
}

var errGone = driver.ErrSandboxGone
