//go:build !remotebox_runner

package e2btest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Plane is one of the two addresses of a server.
type Plane string

const (
	PlaneAPI     Plane = "api"     // the control plane
	PlaneSandbox Plane = "sandbox" // envd and the ports of sandboxes
)

// Request is one that reached the server, whatever became of it.
type Request struct {
	Time      time.Time
	Plane     Plane
	Method    string
	Path      string
	Query     string
	SandboxID string
	Header    http.Header
	Body      []byte // of the control plane's JSON requests
	Status    int    // 0 while it is handled, and when the answer was cut
}

// bodyLimit is that of E2B's API server.
const bodyLimit = 16 << 20

type requestLog struct {
	mu   sync.Mutex
	list []*Request
}

// Requests returns what has arrived since the start or the last ResetRequests,
// in order of arrival.
func (s *Server) Requests() []Request {
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	list := make([]Request, len(s.requests.list))
	for i, r := range s.requests.list {
		list[i] = *r
	}
	return list
}

// ResetRequests forgets the requests so far.
func (s *Server) ResetRequests() {
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	s.requests.list = nil
}

// record notes a request. The body of a JSON request is read into memory.
func (l *requestLog) record(plane Plane, r *http.Request) *Request {
	entry := &Request{
		Time: time.Now(), Plane: plane, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Header: r.Header.Clone(), SandboxID: r.Header.Get(headerSandboxID),
	}
	if plane == PlaneAPI {
		if parts := strings.Split(r.URL.Path, "/"); len(parts) > 1 {
			for i, part := range parts[:len(parts)-1] {
				if part == "sandboxes" && parts[i+1] != "metrics" {
					entry.SandboxID = parts[i+1]
				}
			}
		}
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			entry.Body, _ = io.ReadAll(io.LimitReader(r.Body, bodyLimit+1))
			r.Body = io.NopCloser(bytes.NewReader(entry.Body))
		}
	} else if id, _, ok := hostRoute(r.Host); ok {
		entry.SandboxID = id
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, entry)
	return entry
}

func (l *requestLog) done(entry *Request, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry.Status = status
}
