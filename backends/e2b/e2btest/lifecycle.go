//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"time"
)

func (s *Server) deleteSandbox(r *http.Request) (answer, error) {
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if !sb.destroy() {
		return answer{}, sandboxNotFound(sb.id)
	}
	return answer{status: http.StatusNoContent}, nil
}

func (s *Server) pauseSandbox(r *http.Request) (answer, error) {
	var request struct {
		Memory *bool `json:"memory"`
	}
	sc := schema{name: "SandboxPauseRequest", optional: true, properties: []property{{name: "memory", kind: "boolean"}}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if err := sb.pause(request.Memory == nil || *request.Memory); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusNoContent}, nil
}

type connectRequest struct {
	Timeout *int  `json:"timeout"`
	Memory  *bool `json:"memory"`
}

func (s *Server) connectSandbox(r *http.Request) (answer, error) {
	var request connectRequest
	sc := schema{name: "ConnectSandbox", properties: []property{
		{name: "timeout", kind: "integer", required: true}, {name: "memory", kind: "boolean"},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	return s.connect(r, request)
}

func (s *Server) connectSandbox2(r *http.Request) (answer, error) {
	var request connectRequest
	sc := schema{name: "ConnectSandboxV2", optional: true, properties: []property{
		{name: "timeout", kind: "integer"}, {name: "memory", kind: "boolean"},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	return s.connect(r, request)
}

// connect resumes a paused sandbox, and gives a running one more time, never
// less.
func (s *Server) connect(r *http.Request, request connectRequest) (answer, error) {
	timeout, apiErr := s.checkTimeout(request.Timeout, 300)
	if apiErr != nil {
		return answer{}, apiErr
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	full := s.room(sb)
	sb.mu.Lock()
	defer sb.mu.Unlock()
	switch sb.settled() {
	case killed:
		return answer{}, fail(http.StatusConflict, "Sandbox %s is being killed", sb.id)
	case Running:
		if end := time.Now().Add(timeout); end.After(sb.endAt) {
			sb.timeout = timeout
			sb.setEnd(end)
		}
		return answer{status: http.StatusOK, body: sb.answer()}, nil
	}
	if request.Memory != nil && !*request.Memory {
		sb.dropMemory()
	}
	if full != nil {
		return answer{}, full
	}
	if err := sb.resume(timeout); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: sb.answer()}, nil
}

// dropMemory makes the next resume a cold boot; the caller holds sb.mu and has
// seen the sandbox paused.
func (sb *sandbox) dropMemory() {
	m := sb.machine
	sb.machine = nil
	if m == nil {
		return
	}
	sb.become(resuming)
	sb.mu.Unlock()
	m.stop()
	sb.mu.Lock()
	sb.become(Paused)
}

// room checks that there is room for a paused sandbox to run. The caller holds
// no lock: it needs those of all the other sandboxes.
func (s *Server) room(sb *sandbox) *apiError {
	s.mu.Lock()
	boxes := s.all()
	s.mu.Unlock()
	running := 0
	for _, other := range boxes {
		if other != sb && other.occupies() {
			running++
		}
	}
	if s.cfg.MaxSandboxes >= 0 && running >= s.cfg.MaxSandboxes {
		return s.tooMany()
	}
	return nil
}

// tooMany has no Retry-After: nobody knows when one will end.
func (s *Server) tooMany() *apiError {
	return fail(http.StatusTooManyRequests, "you have reached the maximum number of concurrent E2B sandboxes (%d). If you need more, please contact us at https://e2b.dev/docs/getting-help", s.cfg.MaxSandboxes)
}

// resumeSandbox is the old way; unlike connect it refuses a running sandbox.
func (s *Server) resumeSandbox(r *http.Request) (answer, error) {
	var request connectRequest
	sc := schema{name: "ResumedSandbox", optional: true, properties: []property{
		{name: "timeout", kind: "integer"}, {name: "autoPause", kind: "boolean"}, {name: "memory", kind: "boolean"},
	}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	timeout, apiErr := s.checkTimeout(request.Timeout, 15)
	if apiErr != nil {
		return answer{}, apiErr
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	full := s.room(sb)
	sb.mu.Lock()
	defer sb.mu.Unlock()
	switch sb.settled() {
	case killed:
		return answer{}, sandboxNotFound(sb.id)
	case Running:
		return answer{}, fail(http.StatusConflict, "Sandbox %s is already running", sb.id)
	}
	if request.Memory != nil && !*request.Memory {
		sb.dropMemory()
	}
	if full != nil {
		return answer{}, full
	}
	if err := sb.resume(timeout); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusCreated, body: sb.answer()}, nil
}

// setTimeout may shorten the lifetime; what is beyond the plan is cut silently.
func (s *Server) setTimeout(r *http.Request) (answer, error) {
	var request struct {
		Timeout int `json:"timeout"`
	}
	sc := schema{name: "SandboxTimeoutRequest", properties: []property{{name: "timeout", kind: "integer", required: true}}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	if sb.state != Running {
		return answer{}, sandboxNotFound(sb.id)
	}
	sb.setTTL(time.Duration(request.Timeout) * time.Second)
	return answer{status: http.StatusNoContent}, nil
}

// refreshSandbox only extends the lifetime.
func (s *Server) refreshSandbox(r *http.Request) (answer, error) {
	var request struct {
		Duration int `json:"duration"`
	}
	sc := schema{name: "SandboxRefreshRequest", optional: true, properties: []property{{name: "duration", kind: "integer", max: 3600}}}
	if err := sc.decode(r, &request); err != nil {
		return answer{}, err
	}
	sb, err := s.lookup(r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	if sb.state != Running {
		return answer{}, sandboxNotFound(sb.id)
	}
	duration := time.Duration(max(15, request.Duration)) * time.Second
	if end := time.Now().Add(duration); end.After(sb.endAt) {
		sb.setEnd(end)
	}
	return answer{status: http.StatusNoContent}, nil
}
