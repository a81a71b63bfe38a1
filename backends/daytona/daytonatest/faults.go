//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Moment is a point in a request's life.
type Moment int

const (
	Never  Moment = iota
	Before        // before it is processed
	After         // after it was processed, before the answer is sent
)

// A Fault is something that goes wrong with requests. The fields of the first part choose them, those of the second say
// what happens.
type Fault struct {
	Plane  string // "api", "toolbox", "preview", "storage"; "" is any
	Method string // "" is any
	Path   string // a part of the path; "" is any
	Match  func(*http.Request) bool
	Skip   int // let this many matching requests pass first
	Times  int // strike this many; 0 is one, negative is all

	Delay     time.Duration // wait before processing
	FirstByte time.Duration // process, then wait before the answer's first byte
	Do        func()        // called before processing: what happens outside at that moment

	Status     int         // answer with it instead of processing
	Body       string      // with Status; when it is empty so is the answer
	Header     http.Header // with Status
	RetryAfter int         // seconds; with Status 429, in Retry-After-<Throttler>
	Throttler  string      // default "authenticated"

	Reset Moment // reset the client's connection
	Cut   int    // > 0: reset the client's connection after this many bytes of the answer's body

	// Upstream breaks the connection from the toolbox proxy to the sandbox. The answer is 502 with an empty body, unless the
	// proxy replays the request: see [Config.ReplayingProxy].
	Upstream Moment
}

// An Injection is a fault at work.
type Injection struct {
	faults *faults
	fault  Fault
	seen   int
	struck int
}

// Inject puts a fault to work. Several may strike one request.
func (s *Server) Inject(f Fault) *Injection {
	if f.Times == 0 {
		f.Times = 1
	}
	in := &Injection{faults: &s.faults, fault: f}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.active = append(s.faults.active, in)
	return in
}

// Struck is how many requests the fault has struck.
func (in *Injection) Struck() int {
	in.faults.mu.Lock()
	defer in.faults.mu.Unlock()
	return in.struck
}

// Remove ends the fault.
func (in *Injection) Remove() {
	in.faults.mu.Lock()
	defer in.faults.mu.Unlock()
	in.faults.active = slices.DeleteFunc(in.faults.active, func(x *Injection) bool { return x == in })
}

type faults struct {
	mu     sync.Mutex
	active []*Injection
}

// strike returns the faults that hit a request, and counts them.
func (fs *faults) strike(plane, path string, r *http.Request) []Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var hit []Fault
	for _, in := range fs.active {
		f := in.fault
		if f.Plane != "" && f.Plane != plane || f.Method != "" && f.Method != r.Method ||
			!strings.Contains(path, f.Path) || f.Match != nil && !f.Match(r) {
			continue
		}
		if in.seen++; in.seen <= f.Skip || f.Times >= 0 && in.struck >= f.Times {
			continue
		}
		in.struck++
		hit = append(hit, f)
	}
	return hit
}
