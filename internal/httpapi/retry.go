//go:build !remotebox_runner

package httpapi

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Retry says when a request may be sent again.
type Retry int

const (
	// Never sends a request once: for what runs something.
	Never Retry = iota
	// Unprocessed sends it again if the answer says that nothing was done (429, 503) or if no
	// connection could be made: for what makes something.
	Unprocessed
	// Idempotent sends it again after any failure that may pass: for what may happen twice.
	Idempotent
)

const (
	maxRetries = 4
	firstWait  = 100 * time.Millisecond
	maxWait    = 4 * time.Second
	// longestWait is what a provider may ask for; a caller who is told to wait for longer is told
	// so, in a LimitError.
	longestWait = 30 * time.Second
)

// policy decides about the repetitions of one request.
type policy struct {
	retry Retry
}

// check implements retryablehttp.CheckRetry.
func (p *policy) check(ctx context.Context, resp *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		return p.retry == Idempotent && passing(err) || p.retry == Unprocessed && unsent(err), nil
	}
	again := false
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		again = p.retry >= Unprocessed
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		again = p.retry == Idempotent
	}
	if wait, ok := RetryAfter(resp.Header); again && ok {
		deadline, limited := ctx.Deadline()
		again = wait <= longestWait && (!limited || time.Until(deadline) > wait)
	}
	return again, nil
}

// wait implements retryablehttp.Backoff.
func (p *policy) wait(_, _ time.Duration, attempt int, resp *http.Response) time.Duration {
	if resp != nil {
		if wait, ok := RetryAfter(resp.Header); ok {
			// A little more, so that all who were told the same do not come back at once.
			return wait + rand.N(wait/8+firstWait)
		}
	}
	return Backoff(attempt)
}

// Backoff is how long to wait before the repetition after attempt, from 0: longer each time, and
// by chance, so that those who failed together do not come back together.
func Backoff(attempt int) time.Duration {
	d := min(firstWait<<min(attempt, 10), maxWait)
	return d/2 + rand.N(d)
}

// RetryAfter is how long an answer asks to wait: in Retry-After, or in a header whose name begins
// so (Daytona names the limit that was hit there); in seconds or, as HTTP allows, as a date.
func RetryAfter(h http.Header) (wait time.Duration, ok bool) {
	for name, values := range h {
		if name = http.CanonicalHeaderKey(name); name != "Retry-After" && !strings.HasPrefix(name, "Retry-After-") {
			continue
		}
		for _, v := range values {
			d, valid := parseWait(strings.TrimSpace(v))
			if valid {
				wait, ok = max(wait, d), true
			}
		}
	}
	return wait, ok
}

func parseWait(v string) (time.Duration, bool) {
	if seconds, err := strconv.ParseFloat(v, 64); err == nil {
		if seconds >= 0 && seconds < 1e6 {
			return time.Duration(seconds * float64(time.Second)), true
		}
		return 0, false
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

// unsent reports whether a request that failed with err certainly did not reach its server.
func unsent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	if ok && op.Op == "dial" {
		return true
	}
	_, dns := errors.AsType[*net.DNSError](err)
	return dns
}

// passing reports whether err, which came instead of an answer, may be gone the next time. Names
// that don't exist and certificates that don't fit stay as they are.
func passing(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.Temporary() || dns.Timeout()
	}
	for _, final := range []string{"unsupported protocol scheme", "x509:", "tls: failed to verify", "stopped after", "invalid header", "no Host in request URL"} {
		if strings.Contains(err.Error(), final) {
			return false
		}
	}
	return true
}
