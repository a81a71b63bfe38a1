//go:build !remotebox_runner

package e2btest

import (
	"maps"
	"sync"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/envd"
)

// State is a sandbox's state.
type State string

const (
	Running State = "running"
	Paused  State = "paused"

	// Between two of them, for requests that arrive meanwhile.
	creating State = "creating"
	pausing  State = "pausing"
	resuming State = "resuming"
	killed   State = "killed"
)

// sandbox is one that was created and not yet killed.
type sandbox struct {
	server       *Server
	id           string
	dir          string
	image        *image
	templateID   string
	alias        string
	cpus, memory int
	spec         newSandbox
	accessToken  string // empty when not secured
	trafficToken string // empty with public traffic

	mu        sync.Mutex
	changed   *sync.Cond // of mu: state
	state     State
	machine   *machine // nil while it has no processes
	startedAt time.Time
	endAt     time.Time
	timeout   time.Duration // as last asked for
	expiry    *time.Timer
	network   networkConfig
	logs      []logEntry
}

// boot makes the machine. The caller holds no lock, and is alone.
func (sb *sandbox) boot() (*machine, error) {
	env := maps.Clone(sb.image.env)
	if env == nil {
		env = make(map[string]string)
	}
	maps.Copy(env, map[string]string{"E2B_SANDBOX": "true", "E2B_SANDBOX_ID": sb.id, "E2B_TEMPLATE_ID": sb.templateID})
	m, err := sb.server.startMachine(sb.dir, sb.id, sb.image.layers, envd.Config{
		AccessToken: sb.accessToken, Env: env, UserEnv: sb.spec.EnvVars, User: sb.image.user, Workdir: sb.image.workdir,
	})
	if err != nil {
		return nil, err
	}
	if err := m.mark(sb); err != nil {
		m.stop()
		return nil, err
	}
	if err := sb.image.startCommand(sb.server.ctx, m); err != nil {
		m.stop()
		return nil, err
	}
	return m, nil
}

// setTTL counts the lifetime from now; the caller holds sb.mu.
func (sb *sandbox) setTTL(timeout time.Duration) {
	sb.timeout = timeout
	sb.setEnd(time.Now().Add(timeout))
}

// setEnd sets the end of the lifetime, which the plan limits; the caller holds
// sb.mu.
func (sb *sandbox) setEnd(end time.Time) {
	if limit := sb.startedAt.Add(sb.server.cfg.MaxTimeout); end.After(limit) {
		end = limit
	}
	sb.endAt = end
	if sb.expiry != nil {
		sb.expiry.Stop()
	}
	sb.expiry = time.AfterFunc(time.Until(end), func() { sb.expire(end) })
}

// settled waits until the sandbox is between no two states; the caller holds
// sb.mu.
func (sb *sandbox) settled() State {
	for sb.state == creating || sb.state == pausing || sb.state == resuming {
		sb.changed.Wait()
	}
	return sb.state
}

// become changes the state; the caller holds sb.mu.
func (sb *sandbox) become(state State) {
	sb.state = state
	sb.changed.Broadcast()
}

// shown is the state in answers; the caller holds sb.mu.
func (sb *sandbox) shown() State {
	switch sb.state {
	case Paused, resuming:
		return Paused
	case killed:
		return killed
	}
	return Running
}

// begin adds to the work that Close waits for.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.work.Add(1)
	return true
}
