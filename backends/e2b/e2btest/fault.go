//go:build !remotebox_runner

package e2btest

import (
	"io"
	"net/http"
	"path"
	"sync"
	"time"
)

// Reset says when a connection is reset.
type Reset int

const (
	// ResetNever leaves the connection alone.
	ResetNever Reset = iota
	// ResetBefore resets the connection instead of handling the request.
	ResetBefore
	// ResetAfter handles the request and loses the answer.
	ResetAfter
)

// Fault is something that goes wrong with some requests. Its first fields say
// with which, empty ones match all; the rest says what. A fault without an
// effect only counts.
type Fault struct {
	Plane     Plane
	Method    string
	Path      string // a pattern of path.Match, such as "/sandboxes/*/pause"
	SandboxID string
	Skip      int // so many matching requests are let through first
	Times     int // so many are hit; 0 means 1, negative all

	// Delay comes before the request is handled.
	Delay time.Duration
	// Status, if it isn't 0, is the answer instead of handling the request.
	Status int
	Header http.Header // of that answer
	Body   string      // of that answer
	Reset  Reset
	// CutAfter, if it isn't 0, resets the connection after so many bytes of the
	// answer's body; negative: after the header.
	CutAfter int64
}

// TooManyRequests is the answer of E2B's limiter; after is the wait in seconds,
// as text, and may be empty: the load balancer sends none, and no JSON either.
func TooManyRequests(after string) Fault {
	if after == "" {
		return Fault{Status: http.StatusTooManyRequests, Body: "Too Many Requests"}
	}
	return Fault{
		Status: http.StatusTooManyRequests, Body: `{"code":429,"message":"Rate limit exceeded"}`,
		Header: http.Header{"Retry-After": {after}, "Content-Type": {"application/json"}},
	}
}

// Injection is a fault in effect.
type Injection struct {
	fault Fault
	list  *faultList
	seen  int
	hits  int
}

// Hits says how many requests the fault has hit.
func (i *Injection) Hits() int {
	i.list.mu.Lock()
	defer i.list.mu.Unlock()
	return i.hits
}

// Remove ends the fault.
func (i *Injection) Remove() {
	i.list.mu.Lock()
	defer i.list.mu.Unlock()
	for n, other := range i.list.faults {
		if other == i {
			i.list.faults = append(i.list.faults[:n:n], i.list.faults[n+1:]...)
			return
		}
	}
}

// Inject puts a fault into effect. Of several that match a request the first
// injected one hits it.
func (s *Server) Inject(f Fault) *Injection {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	i := &Injection{fault: f, list: &s.faults}
	s.faults.faults = append(s.faults.faults, i)
	return i
}

type faultList struct {
	mu     sync.Mutex
	faults []*Injection
}

// match finds the fault of a request and counts it.
func (l *faultList) match(r *Request) (Fault, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, i := range l.faults {
		f := i.fault
		if f.Plane != "" && f.Plane != r.Plane || f.Method != "" && f.Method != r.Method || f.SandboxID != "" && f.SandboxID != r.SandboxID {
			continue
		}
		if f.Path != "" {
			if ok, err := path.Match(f.Path, r.Path); err != nil || !ok {
				continue
			}
		}
		i.seen++
		if i.seen <= f.Skip || f.Times >= 0 && i.hits >= max(1, f.Times) {
			continue
		}
		i.hits++
		return f, true
	}
	return Fault{}, false
}

// observe counts, delays and disturbs the requests to handler.
func (s *Server) observe(plane Plane, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entry := s.requests.record(plane, r)
		fault, ok := s.faults.match(entry)
		s.mu.Lock()
		delay := s.latency + fault.Delay
		s.mu.Unlock()
		if delay > 0 {
			timer := time.NewTimer(delay)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-r.Context().Done():
				abort(r)
			}
		}
		out := &responseWriter{ResponseWriter: w, request: r, left: -1}
		switch {
		case !ok:
		case fault.Status != 0:
			for name, values := range fault.Header {
				w.Header()[http.CanonicalHeaderKey(name)] = values
			}
			s.requests.done(entry, fault.Status)
			w.WriteHeader(fault.Status)
			io.WriteString(w, fault.Body)
			return
		case fault.Reset == ResetBefore:
			abort(r)
		case fault.Reset == ResetAfter:
			handler.ServeHTTP(&nowhere{header: make(http.Header)}, r)
			abort(r)
		case fault.CutAfter != 0:
			out.left = max(0, fault.CutAfter)
		}
		handler.ServeHTTP(out, r)
		s.requests.done(entry, out.status())
	})
}
