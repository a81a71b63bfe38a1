//go:build !remotebox_runner

package daytonatest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// exchange is what the layers of the server know about one request.
type exchange struct {
	req      *Request
	faults   []Fault
	upstream Moment
}

type exchangeKey struct{}

func exchangeOf(r *http.Request) *exchange { return r.Context().Value(exchangeKey{}).(*exchange) }

// outer is what every request passes first: the log, the latency, the faults.
func (s *Server) outer(plane string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.enter() {
			panic(http.ErrAbortHandler)
		}
		defer s.requests.Done()
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		defer context.AfterFunc(s.ctx, func() { cancel(errClosed) })()

		ex := &exchange{req: describe(plane, r)}
		ex.faults = s.faults.strike(ex.req.Plane, ex.req.Path, r)
		ex.req.Faults = len(ex.faults)
		s.journal.add(ex.req)
		r = r.WithContext(context.WithValue(ctx, exchangeKey{}, ex))

		t := &tap{ResponseWriter: w, ctx: ctx}
		t.began = func() { s.journal.update(func() { ex.req.Status = t.status }) }
		body := &countingBody{ReadCloser: r.Body}
		r.Body = body
		defer func() {
			s.journal.update(func() {
				ex.req.Written, ex.req.Read = t.written, body.n
				ex.req.Duration = time.Since(ex.req.Time)
			})
			s.cfg.Logf("%s %s %s → %d", ex.req.Plane, r.Method, r.URL.Path, t.status)
		}()
		s.process(t, r, ex, next)
	})
}

func (s *Server) process(t *tap, r *http.Request, ex *exchange, next http.Handler) {
	delay, reset := s.cfg.Latency, Never
	for _, f := range ex.faults {
		delay += f.Delay
		t.firstByte += f.FirstByte
		if f.Cut > 0 {
			t.cut = int64(f.Cut)
		}
		ex.upstream = max(ex.upstream, f.Upstream)
		reset = max(reset, f.Reset)
	}
	if delay > 0 && sleep(r.Context(), delay) != nil {
		panic(http.ErrAbortHandler)
	}
	for _, f := range ex.faults {
		if f.Do != nil {
			f.Do()
		}
	}
	for _, f := range ex.faults {
		if f.Status != 0 {
			f.answer(t)
			return
		}
	}
	switch reset {
	case Before:
		t.reset()
	case After:
		next.ServeHTTP(discard{http.Header{}}, r)
		t.reset()
	}
	next.ServeHTTP(t, r)
}

func (f Fault) answer(w http.ResponseWriter) {
	for k, v := range f.Header {
		w.Header()[k] = v
	}
	if f.Status == http.StatusTooManyRequests && f.RetryAfter > 0 {
		throttler := f.Throttler
		def(&throttler, "authenticated")
		w.Header().Set("Retry-After-"+throttler, strconv.Itoa(f.RetryAfter))
	}
	if strings.HasPrefix(f.Body, "{") && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body)
}

func describe(plane string, r *http.Request) *Request {
	req := &Request{Time: time.Now(), Plane: plane, Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Length: r.ContentLength}
	req.Header.Del("Authorization")
	if plane != "" {
		return req
	}
	switch rest, toolbox := strings.CutPrefix(r.URL.Path, "/toolbox/"); {
	case toolbox:
		req.Plane = "toolbox"
		id, path, _ := strings.Cut(rest, "/")
		req.Sandbox, req.Path = id, "/"+path
	case strings.HasPrefix(r.URL.Path, "/preview/"):
		req.Plane = "preview"
	default:
		req.Plane = "api"
	}
	return req
}

// tap counts an answer, and delays or cuts it.
type tap struct {
	http.ResponseWriter
	ctx       context.Context
	status    int
	written   int64
	firstByte time.Duration
	cut       int64
	began     func() // called once, when the status is known
}

func (t *tap) WriteHeader(status int) {
	if t.status == 0 {
		if t.firstByte > 0 && sleep(t.ctx, t.firstByte) != nil {
			panic(http.ErrAbortHandler)
		}
		if status >= 200 || status == http.StatusSwitchingProtocols {
			t.status = status
			t.began()
		}
	}
	t.ResponseWriter.WriteHeader(status)
}

func (t *tap) Write(p []byte) (int, error) {
	if t.status == 0 {
		t.WriteHeader(http.StatusOK)
	}
	if t.cut > 0 && t.written+int64(len(p)) >= t.cut {
		n, _ := t.ResponseWriter.Write(p[:t.cut-t.written])
		t.written += int64(n)
		t.Flush()
		t.reset()
	}
	n, err := t.ResponseWriter.Write(p)
	t.written += int64(n)
	return n, err
}

func (t *tap) Flush() { _ = http.NewResponseController(t.ResponseWriter).Flush() }

// Hijack hands the connection over, to a WebSocket; a cut then counts the bytes on the wire.
func (t *tap) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err != nil || t.cut == 0 {
		return conn, rw, err
	}
	c := &cutConn{Conn: conn, left: t.cut}
	return c, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(c)), nil
}

func (t *tap) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// reset closes the connection so that the client sees "connection reset by peer". It does not return.
func (t *tap) reset() {
	conn, _, err := http.NewResponseController(t.ResponseWriter).Hijack()
	if err == nil {
		resetConn(conn)
	}
	panic(http.ErrAbortHandler)
}

func resetConn(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

type cutConn struct {
	net.Conn
	left int64
}

func (c *cutConn) Write(p []byte) (int, error) {
	if c.left -= int64(len(p)); c.left <= 0 {
		resetConn(c.Conn)
		return 0, errors.New("daytonatest: cut")
	}
	return c.Conn.Write(p)
}

// discard is where an answer goes that nobody is to see.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

type countingBody struct {
	io.ReadCloser
	n int64
}

func (c *countingBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n += int64(n)
	return n, err
}
