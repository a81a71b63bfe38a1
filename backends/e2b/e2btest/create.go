//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/envd"
)

// newSandbox is the request of a creation, of either version.
type newSandbox struct {
	TemplateID      string            `json:"templateID"`
	Timeout         *int              `json:"timeout"`
	AutoPause       bool              `json:"autoPause"`
	AutoPauseMemory *bool             `json:"autoPauseMemory"`
	AutoResume      *autoResume       `json:"autoResume"`
	Secure          bool              `json:"secure"`
	Internet        *bool             `json:"allow_internet_access"`
	Network         *networkConfig    `json:"network"`
	Metadata        map[string]string `json:"metadata"`
	EnvVars         map[string]string `json:"envVars"`
	VolumeMounts    []volumeMount     `json:"volumeMounts"`
}

type autoResume struct {
	Enabled bool `json:"enabled"`
}

type volumeMount struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// sandboxAnswer is the schema Sandbox.
type sandboxAnswer struct {
	TemplateID   string  `json:"templateID"`
	SandboxID    string  `json:"sandboxID"`
	Alias        string  `json:"alias,omitempty"`
	ClientID     string  `json:"clientID"`
	EnvdVersion  string  `json:"envdVersion"`
	AccessToken  string  `json:"envdAccessToken,omitempty"`
	TrafficToken *string `json:"trafficAccessToken,omitempty"`
}

const clientID = "6532622b"

func newSandboxSchema(name string) schema {
	return schema{name: name, properties: []property{
		{name: "templateID", kind: "string", required: true},
		{name: "timeout", kind: "integer"},
		{name: "autoPause", kind: "boolean"},
		{name: "autoPauseMemory", kind: "boolean"},
		{name: "autoResume", kind: "object"},
		{name: "secure", kind: "boolean"},
		{name: "allow_internet_access", kind: "boolean"},
		{name: "network", kind: "object"},
		{name: "metadata", kind: "strings"},
		{name: "envVars", kind: "strings"},
		{name: "volumeMounts", kind: "array"},
	}}
}

func (s *Server) createSandbox(r *http.Request) (answer, error) {
	var request newSandbox
	if err := newSandboxSchema("NewSandbox").decode(r, &request); err != nil {
		return answer{}, err
	}
	return s.create(request, 15)
}

// createSandbox2 is the second version: always secured, and a longer default
// lifetime.
func (s *Server) createSandbox2(r *http.Request) (answer, error) {
	var request newSandbox
	if err := newSandboxSchema("NewSandboxV2").decode(r, &request); err != nil {
		return answer{}, err
	}
	request.Secure = true
	return s.create(request, 300)
}

func (s *Server) create(request newSandbox, defaultTimeout int) (answer, error) {
	timeout, apiErr := s.checkTimeout(request.Timeout, defaultTimeout)
	if apiErr != nil {
		return answer{}, apiErr
	}
	if apiErr := request.check(); apiErr != nil {
		return answer{}, apiErr
	}
	built, err := s.findBuild(request.TemplateID)
	if err != nil {
		return answer{}, err
	}
	sb := s.newSandbox(built, request)
	if err := s.admit(sb); err != nil {
		return answer{}, err
	}
	if err := s.launch(sb, timeout); err != nil {
		return answer{}, err
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return answer{status: http.StatusCreated, body: sb.answer()}, nil
}

func (s *Server) newSandbox(built *build, request newSandbox) *sandbox {
	id := "i" + randomID()
	sb := &sandbox{
		server: s, id: id, dir: s.path("sandboxes", id), image: built.image, spec: request,
		templateID: built.template.id, alias: built.template.alias(), cpus: built.cpus, memory: built.memory,
		state: creating,
	}
	sb.changed = sync.NewCond(&sb.mu)
	if request.Secure {
		sb.accessToken = randomHex(32)
	}
	if request.Network != nil {
		sb.network = *request.Network
		if public := request.Network.AllowPublicTraffic; public != nil && !*public {
			sb.trafficToken = randomHex(32)
		}
	}
	return sb
}

// launch boots an admitted sandbox.
func (s *Server) launch(sb *sandbox, timeout time.Duration) error {
	m, err := sb.boot()
	sb.mu.Lock()
	if err != nil {
		sb.become(Paused) // so that it can be destroyed
		sb.mu.Unlock()
		sb.destroy()
		return &apiError{Code: 500, ErrorCode: "sandbox_create_failed", Message: "Failed to create sandbox: " + err.Error()}
	}
	defer sb.mu.Unlock()
	sb.machine = m
	sb.startedAt = time.Now()
	sb.setTTL(timeout)
	sb.log("Sandbox started")
	sb.become(Running)
	s.cfg.Logger.Info("sandbox started", "id", sb.id, "template", sb.templateID)
	return nil
}

// admit adds the sandbox to the list if the limits allow for another one.
func (s *Server) admit(sb *sandbox) error {
	s.mu.Lock()
	boxes := s.all()
	s.mu.Unlock()
	running := 0
	for _, other := range boxes {
		if other.occupies() {
			running++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fail(http.StatusServiceUnavailable, "server is shutting down")
	}
	running += len(s.sandboxes) - len(boxes) // created since
	if s.cfg.MaxSandboxes >= 0 && running >= s.cfg.MaxSandboxes {
		return s.tooMany()
	}
	now := time.Now()
	for len(s.created) > 0 && now.Sub(s.created[0]) >= time.Second {
		s.created = s.created[1:]
	}
	if s.cfg.CreateRate > 0 && len(s.created) >= s.cfg.CreateRate {
		return &apiError{Code: http.StatusTooManyRequests, Message: "Rate limit exceeded", retryAfter: 1}
	}
	s.created = append(s.created, now)
	s.sandboxes[sb.id] = sb
	return nil
}

// occupies says whether the sandbox counts against the limit.
func (sb *sandbox) occupies() bool {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return sb.state != Paused && sb.state != killed
}

// checkTimeout returns a lifetime that was asked for in seconds.
func (s *Server) checkTimeout(seconds *int, preset int) (time.Duration, *apiError) {
	if seconds == nil {
		seconds = &preset
	}
	timeout := time.Duration(*seconds) * time.Second
	switch {
	case timeout <= 0:
		return 0, fail(http.StatusBadRequest, "Timeout must be greater than 0")
	case timeout > s.cfg.MaxTimeout:
		hours := strconv.FormatFloat(s.cfg.MaxTimeout.Hours(), 'f', -1, 64)
		return 0, fail(http.StatusBadRequest, "Timeout cannot be greater than %s hours", hours)
	}
	return timeout, nil
}

// answer describes the sandbox; the caller holds sb.mu.
func (sb *sandbox) answer() sandboxAnswer {
	a := sandboxAnswer{
		TemplateID: sb.templateID, SandboxID: sb.id, Alias: sb.alias, ClientID: clientID,
		EnvdVersion: envd.Version, AccessToken: sb.accessToken,
	}
	if sb.trafficToken != "" {
		a.TrafficToken = &sb.trafficToken
	}
	return a
}
