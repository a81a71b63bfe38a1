//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Request is one that the server has received.
type Request struct {
	Time     time.Time
	Plane    string // "api", "toolbox", "preview" or "storage"
	Sandbox  string // identifier, in the toolbox
	Method   string
	Path     string // in the toolbox: what follows the identifier
	Query    url.Values
	Header   http.Header // without Authorization
	Length   int64       // Content-Length; -1 for a chunked body
	Read     int64       // bytes of the body that were read
	Status   int         // 0 before the answer begins, and for ever when the connection was cut before
	Written  int64       // bytes of the answer's body
	Duration time.Duration
	Faults   int // faults that struck it
	Runs     int // how often the toolbox processed it: 2 after a replay
}

type journal struct {
	mu       sync.Mutex
	requests []*Request
}

func (j *journal) add(r *Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.requests = append(j.requests, r)
}

func (j *journal) update(f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f()
}

// Requests are the requests received since the start, or the last ForgetRequests, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	out := make([]Request, 0, len(s.journal.requests))
	for _, r := range s.journal.requests {
		out = append(out, *r)
	}
	return out
}

// Count is how many requests were received whose "METHOD /path" contains each of the given words.
func (s *Server) Count(words ...string) int {
	n := 0
	for _, r := range s.Requests() {
		line := r.Method + " " + r.Path
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			n++
		}
	}
	return n
}

// ForgetRequests empties the log.
func (s *Server) ForgetRequests() {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.journal.requests = nil
}
