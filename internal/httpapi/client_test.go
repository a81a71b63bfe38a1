//go:build !remotebox_runner

package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/httpapi"
)

// server answers with the steps of a script, then with success, and counts.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	script []http.HandlerFunc
	n      int
	bodies []string
	last   *http.Request
}

func newServer(t *testing.T, script ...http.HandlerFunc) *server {
	s := &server{script: script}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		i := s.n
		s.n++
		s.bodies = append(s.bodies, string(body))
		s.last = r
		s.mu.Unlock()
		if i < len(s.script) {
			s.script[i](w, r)
			return
		}
		io.WriteString(w, `{"ok":true}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// seen is the last request and the bodies of all.
func (s *server) seen() (*http.Request, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, slices.Clone(s.bodies)
}

func (s *server) client() *httpapi.Client {
	return &httpapi.Client{
		Base: s.URL, HTTP: s.Client(), Header: http.Header{"X-Key": {"the-key"}}, Secrets: []string{"the-key", `with "quotes" & more`},
		Credential: remote.CredentialError{Backend: "test", Field: "Key", Variable: "KEY", File: "file"},
	}
}

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header()[header[i]] = []string{header[i+1]}
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func reset(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

// cut ends an answer in its middle.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	io.WriteString(w, `{"ok":`)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// TestRetries checks how many requests come of one, by kind of request and of failure.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name                           string
		answer                         http.HandlerFunc
		never, unprocessed, idempotent bool // whether the request is sent again
	}{
		{"429", status(429, `{"message":"slow down"}`), false, true, true},
		{"429 with a wait", status(429, `{"message":"slow down"}`, "Retry-After", "0"), false, true, true},
		{"503", status(503, ""), false, true, true},
		{"500", status(500, "oh"), false, false, true},
		{"502", status(502, "<html>"), false, false, true},
		{"504", status(504, ""), false, false, true},
		{"reset", reset, false, false, true},
		{"cut", cut, false, false, true},
		{"400", status(400, `{"message":"no"}`), false, false, false},
		{"404", status(404, `{"message":"no"}`), false, false, false},
		{"409", status(409, `{"message":"no"}`), false, false, false},
		{"200, no JSON", status(200, "hello"), false, false, false},
	} {
		for retry, again := range map[httpapi.Retry]bool{httpapi.Never: c.never, httpapi.Unprocessed: c.unprocessed, httpapi.Idempotent: c.idempotent} {
			s := newServer(t, c.answer)
			var out struct{ OK bool }
			_, err := s.client().Do(t.Context(), &httpapi.Request{Method: "POST", Path: "/x", JSON: map[string]int{"a": 1}, Retry: retry}, &out)
			want := 1
			if again {
				want = 2
			}
			if s.count() != want || (err == nil) != again || out.OK != again {
				t.Errorf("%s, kind %d: %d requests, %v, %+v", c.name, retry, s.count(), err, out)
			}
			_, bodies := s.seen()
			for _, body := range bodies {
				if body != `{"a":1}` {
					t.Errorf("%s: a body is %q", c.name, body)
				}
			}
		}
	}
}

// TestGivesUp checks that repetitions end.
func TestGivesUp(t *testing.T) {
	var all []http.HandlerFunc
	for range 20 {
		all = append(all, status(503, `{"error_code":"full","message":"no room"}`, "Retry-After", "0"))
	}
	s := newServer(t, all...)
	_, err := s.client().Do(t.Context(), &httpapi.Request{Method: "GET", Path: "/x", Retry: httpapi.Idempotent}, nil)
	var e *httpapi.Error
	if !errors.As(err, &e) || e.Status != 503 || e.Code != "full" || e.Message != "no room" || s.count() != 5 {
		t.Errorf("%d requests, %#v", s.count(), err)
	}
}

func TestLimit(t *testing.T) {
	s := newServer(t, status(429, "Too Many Requests", "Retry-After", "3600"))
	begin := time.Now()
	_, err := s.client().Do(t.Context(), &httpapi.Request{Method: "GET", Path: "/x", Retry: httpapi.Idempotent}, nil)
	var l *remote.LimitError
	if !errors.As(err, &l) || l.Wait != time.Hour || l.Backend != "test" || s.count() != 1 || time.Since(begin) > 10*time.Second {
		t.Errorf("%d requests, %#v", s.count(), err)
	}
}

// TestDeadline checks that nobody waits for longer than there is time.
func TestDeadline(t *testing.T) {
	s := newServer(t, status(429, "", "Retry-After", "20"))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	begin := time.Now()
	_, err := s.client().Do(ctx, &httpapi.Request{Method: "GET", Path: "/x", Retry: httpapi.Idempotent}, nil)
	if l, ok := errors.AsType[*remote.LimitError](err); !ok || l.Wait != 20*time.Second || time.Since(begin) > 4*time.Second {
		t.Errorf("%v", err)
	}
}

func TestCancelled(t *testing.T) {
	s := newServer(t, status(503, "", "Retry-After", "20"))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := s.client().Do(ctx, &httpapi.Request{Method: "GET", Path: "/x", Retry: httpapi.Idempotent}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestCredential(t *testing.T) {
	s := newServer(t, status(401, `{"code":401,"message":"bad key the-key"}`))
	_, err := s.client().Do(t.Context(), &httpapi.Request{Method: "GET", Path: "/x", Retry: httpapi.Idempotent}, nil)
	var c *remote.CredentialError
	if !errors.As(err, &c) || c.Field != "Key" || !strings.Contains(c.Reason, "refused") || strings.Contains(err.Error(), "the-key") || s.count() != 1 {
		t.Errorf("%v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	date := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		header http.Header
		least  time.Duration
		most   time.Duration
		ok     bool
	}{
		{http.Header{}, 0, 0, false},
		{http.Header{"Retry-After": {"3"}}, 3 * time.Second, 3 * time.Second, true},
		{http.Header{"Retry-After": {" 1.5 "}}, 1500 * time.Millisecond, 1500 * time.Millisecond, true},
		{http.Header{"Retry-After": {date}}, 50 * time.Second, time.Minute, true},
		{http.Header{"Retry-After-Sandbox-Create": {"7"}}, 7 * time.Second, 7 * time.Second, true},
		{http.Header{"Retry-After": {"1"}, "Retry-After-Anonymous": {"4"}}, 4 * time.Second, 4 * time.Second, true},
		{http.Header{"Retry-After": {"soon"}}, 0, 0, false},
		{http.Header{"Retry-After": {"-1"}}, 0, 0, false},
		{http.Header{"X-Retry-After": {"1"}}, 0, 0, false},
	} {
		if got, ok := httpapi.RetryAfter(c.header); ok != c.ok || got < c.least || got > c.most {
			t.Errorf("%v: %v, %v", c.header, got, ok)
		}
	}
}

// TestBodies checks what errors make of bodies: of any size, kind and content.
func TestBodies(t *testing.T) {
	secret := `with "quotes" & more`
	quoted := strings.ReplaceAll(secret, `"`, `\"`)
	for _, c := range []struct{ body, want string }{
		{"", "I'm a teapot"},
		{`{"message":"plain"}`, "plain"},
		{`{"error":"other"}`, "other"},
		{`{"message":["a","b"]}`, "a"},
		{`{"code":7}`, "I'm a teapot"},
		{"<html>\x1b[31mno\x00</html>", "<html>[31mno</html>"},
		{"\xff\xfe", "�"},
		{"key the-key.", "key ********."},
		{`{"message":"header ` + quoted + `"}`, "header ********"},
		{"url " + url.QueryEscape(secret), "url ********"},
	} {
		s := newServer(t, status(418, c.body))
		_, err := s.client().Do(t.Context(), &httpapi.Request{Method: "GET", Path: "/x?sig=1"}, nil)
		var e *httpapi.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, c.want) || e.Status != 418 {
			t.Errorf("%q became %#v", c.body, err)
		}
		for _, secret := range []string{"the-key", secret, quoted, "\x1b", "\x00"} {
			if strings.Contains(err.Error(), secret) || strings.Contains(string(e.Body), secret) {
				t.Errorf("%q is shown by %q", secret, err)
			}
		}
	}
	s := newServer(t, status(418, strings.Repeat("x", 10<<20)))
	_, err := s.client().Do(t.Context(), &httpapi.Request{Method: "GET", Path: "/x"}, nil)
	if n := len(err.Error()); n > 5000 || n < 4000 {
		t.Errorf("an error has %d bytes", n)
	}
}

// TestNoURL checks that errors of the network show no query: it may be a signature.
func TestNoURL(t *testing.T) {
	s := newServer(t, reset)
	_, err := s.client().Do(t.Context(), &httpapi.Request{Method: "PUT", Path: s.URL + "/put?signature=very-secret", Plain: true}, nil)
	if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "very-secret") {
		t.Errorf("%v", err)
	}
	if last, _ := s.seen(); last.Header.Get("X-Key") != "" {
		t.Error("another service was given the key")
	}
}

// TestLength checks that a body of known length is not sent in chunks, again and again.
func TestLength(t *testing.T) {
	s := newServer(t, status(503, ""), reset)
	_, err := s.client().Do(t.Context(), &httpapi.Request{
		Method: "PUT", Path: "/x", Retry: httpapi.Idempotent, Length: 5,
		Body: func() (io.Reader, error) { return strings.NewReader("hello"), nil },
	}, nil)
	last, bodies := s.seen()
	if err != nil || last.ContentLength != 5 || len(last.TransferEncoding) > 0 || strings.Join(bodies, " ") != "hello hello hello" {
		t.Errorf("%v, length %d, %q", err, last.ContentLength, bodies)
	}
}

func TestUnsent(t *testing.T) {
	s := newServer(t)
	c := s.client()
	s.Close()
	_, err := c.Do(t.Context(), &httpapi.Request{Method: "POST", Path: "/x"}, nil)
	var e *httpapi.Error
	if !errors.As(err, &e) || !e.Unsent || e.Doubtful() {
		t.Errorf("%#v", err)
	}
	for code, doubtful := range map[int]bool{400: false, 404: false, 429: false, 500: true, 502: true, 503: false, 504: true} {
		if got := (&httpapi.Error{Status: code}).Doubtful(); got != doubtful {
			t.Errorf("%d: %v", code, got)
		}
	}
}

// TestIdle checks that silence ends a transfer, and that a long transfer goes on.
func TestIdle(t *testing.T) {
	stall := make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		for range 10 {
			io.WriteString(w, "x")
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond) // a slow server, not a wait for anything
		}
		select {
		case <-stall:
		case <-r.Context().Done():
		}
	})
	defer close(stall)
	const limit = 150 * time.Millisecond
	ctx, idle := httpapi.WithIdle(t.Context(), limit)
	defer idle.Stop()
	resp, err := s.client().Send(ctx, &httpapi.Request{Method: "GET", Path: "/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(idle.Reader(resp.Body))
	if len(b) != 10 || err == nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if e, ok := errors.AsType[*httpapi.ErrIdle](context.Cause(ctx)); !ok || e.Limit != limit {
		t.Errorf("%v", context.Cause(ctx))
	}
}
