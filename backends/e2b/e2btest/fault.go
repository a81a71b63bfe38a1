//go:build !remotebox_runner

package e2btest

import (
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
	// ResetMeanwhile resets the connection at once and handles the request all the
	// same, after the fault's Delay: the client can't know that it is under way.
	ResetMeanwhile
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
	// Unaware handles the request even if its client leaves during the delay, as a
	// server does behind a load balancer.
	Unaware bool
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
	open  int // hit requests that are still handled
}

// Hits says how many requests the fault has hit.
func (i *Injection) Hits() int {
	i.list.mu.Lock()
	defer i.list.mu.Unlock()
	return i.hits
}

// Wait returns once every request that the fault has hit so far has been handled,
// also where its client has left.
func (i *Injection) Wait() {
	i.list.mu.Lock()
	defer i.list.mu.Unlock()
	for i.open > 0 {
		i.list.ended.Wait()
	}
}

// handled says that a request that the fault has hit is over.
func (i *Injection) handled() {
	i.list.mu.Lock()
	defer i.list.mu.Unlock()
	i.open--
	i.list.ended.Broadcast()
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
	if s.faults.ended == nil {
		s.faults.ended = sync.NewCond(&s.faults.mu)
	}
	s.faults.faults = append(s.faults.faults, i)
	return i
}

type faultList struct {
	mu     sync.Mutex
	faults []*Injection
	ended  *sync.Cond // of mu: Injection.open
}

// match finds the fault of a request and counts it; nil if there is none. The
// caller says when the request has been handled.
func (l *faultList) match(r *Request) *Injection {
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
		i.open++
		return i
	}
	return nil
}
