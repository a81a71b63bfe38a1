//go:build !remotebox_runner

package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/remote-box/remote"
)

// Client sends requests to one API. Its fields must not change once it is in use; its methods may
// be called at once.
type Client struct {
	Base   string      // URL that request paths are appended to
	Header http.Header // of every request
	HTTP   *http.Client
	// Credential is the error of a refused key, without its reason.
	Credential remote.CredentialError
	// Secrets are masked in everything that errors say.
	Secrets []string
	// Logger hears of repeated requests; nil for nobody.
	Logger *slog.Logger
}

// Request is one request.
type Request struct {
	Method string
	Path   string // appended to the client's base; an absolute URL is used as it is
	Query  url.Values
	Header http.Header // added to the client's
	// JSON is the body, if not nil.
	JSON any
	// Body is another body: it is called once for every time that the request is sent.
	Body func() (io.Reader, error)
	// Length of Body; negative if it is not known.
	Length int64
	// Retry says when the request may be sent again.
	Retry Retry
	// Timeout bounds Do with all its repetitions, 75 seconds if zero: E2B's handlers end after 70.
	// Send has none.
	Timeout time.Duration
	// Plain leaves out the client's header: for URLs of other services.
	Plain bool
	// Secrets are masked in errors, besides the client's.
	Secrets []string
}

// Answer is what is left of an answer once its body has been decoded.
type Answer struct {
	Status int
	Header http.Header
}

const (
	doTimeout = 75 * time.Second
	maxAnswer = 16 << 20 // a JSON answer larger than this is none
)

// Do sends a request and decodes the JSON of its answer into out, if out is not nil. Its error is
// the context's, a *remote.CredentialError, a *remote.LimitError or an *Error.
func (c *Client) Do(ctx context.Context, r *Request, out any) (*Answer, error) {
	timeout := r.Timeout
	if timeout == 0 {
		timeout = doTimeout
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for try := 0; ; try++ {
		a, err := c.once(limited, r, out)
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// The answer's body broke: the policy has seen only its beginning.
		e, ok := errors.AsType[*Error](err)
		if !ok || !e.Cut || r.Retry != Idempotent || try == 2 {
			return nil, c.explain(err)
		}
	}
}

func (c *Client) once(ctx context.Context, r *Request, out any) (*Answer, error) {
	resp, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &Answer{Status: resp.StatusCode, Header: resp.Header}
	if out == nil {
		io.Copy(io.Discard, io.LimitReader(resp.Body, errorLimit)) // so that the connection is used again
		return a, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, &Error{Op: r.op(), Message: "the answer broke off", Cut: true, Err: c.network(err, r)}
	}
	if err := json.Unmarshal(body, out); err != nil {
		// What it says is left out: a good answer may hold tokens.
		return nil, &Error{Op: r.op(), Message: fmt.Sprintf("an answer with status %d that can't be understood (%d bytes of %s)", resp.StatusCode, len(body), resp.Header.Get("Content-Type"))}
	}
	return a, nil
}

// Send sends a request and returns its answer, whose status is good and whose body the caller
// closes. Only ctx bounds it. Its error is as Do's.
func (c *Client) Send(ctx context.Context, r *Request) (*http.Response, error) {
	resp, err := c.send(ctx, r)
	if err == nil {
		return resp, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, c.explain(err)
}

func (c *Client) send(ctx context.Context, r *Request) (*http.Response, error) {
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	p := &policy{retry: r.Retry}
	rc := &retryablehttp.Client{
		HTTPClient: NoRedirects(c.HTTP), RetryMax: maxRetries, CheckRetry: p.check, Backoff: p.wait,
		// Otherwise the last answer, and what it says, would be thrown away.
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
	if c.Logger != nil {
		rc.Logger = logger{c.Logger}
	}
	resp, err := rc.Do(req)
	if resp != nil && (err != nil || resp.StatusCode >= 300) {
		defer resp.Body.Close()
		return nil, c.refusal(resp, r)
	}
	if err != nil {
		return nil, &Error{Op: r.op(), Unsent: unsent(err), Err: c.network(err, r)}
	}
	return resp, nil
}

func (c *Client) request(ctx context.Context, r *Request) (*retryablehttp.Request, error) {
	u, err := url.Parse(r.Path)
	if err != nil || !u.IsAbs() {
		if u, err = url.Parse(c.Base + r.Path); err != nil {
			return nil, &Error{Op: r.op(), Message: "its URL is malformed", Unsent: true}
		}
	}
	if len(r.Query) > 0 {
		u.RawQuery = r.Query.Encode()
	}
	var body any
	kind, length := "", int64(-1)
	switch {
	case r.JSON != nil:
		b, err := json.Marshal(r.JSON)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.op(), err)
		}
		body, kind, length = bytes.NewReader(b), "application/json", int64(len(b))
	case r.Body != nil:
		body, length = retryablehttp.ReaderFunc(r.Body), r.Length
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, r.Method, u.String(), body)
	if err != nil {
		return nil, &Error{Op: r.op(), Message: "the request can't be made", Unsent: true, Err: c.network(err, r)}
	}
	if body != nil {
		req.ContentLength = length
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	headers := []http.Header{c.Header, r.Header}
	if r.Plain {
		headers = headers[1:]
	}
	for _, h := range headers {
		for name, values := range h {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	return req, nil
}

// op names the request in errors. Queries are left out: they may hold signatures.
func (r *Request) op() string {
	path, _, _ := strings.Cut(r.Path, "?")
	if u, err := url.Parse(path); err == nil && u.IsAbs() {
		path = u.Scheme + "://" + u.Host + "/…"
	}
	return r.Method + " " + path
}
