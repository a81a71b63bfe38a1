//go:build !remotebox_runner

package e2b

import (
	"context"
	"sync"

	"github.com/remote-box/remote/driver"
)

// runnerPath is where templates keep the runner.
const runnerPath = "/opt/remote-box/runner"

// sandbox is an E2B microVM.
type sandbox struct {
	c      *config
	id     string
	image  string
	runner string
	envd   *envd
	life   lifetime
	outage outage
	posted chan struct{}  // closed once PostCreateCmd has been started; nil without one
	work   sync.WaitGroup // what runs beside the calls

	closing  context.Context // ends with Close
	stopWork context.CancelFunc

	mu     sync.Mutex
	closed bool
}

var (
	_ driver.Files  = (*sandbox)(nil)
	_ driver.Pauser = (*sandbox)(nil)
	_ driver.Imaged = (*sandbox)(nil)
)

func newSandboxOf(c *config, a *sandboxAnswer, image string) *sandbox {
	s := &sandbox{c: c, id: a.SandboxID, image: image, runner: runnerPath}
	s.envd = newEnvd(c, a)
	s.closing, s.stopWork = context.WithCancel(context.Background())
	s.life.renewed(c.TTL)
	return s
}

// ID implements driver.Sandbox.
func (s *sandbox) ID() string { return s.id }

// Image implements driver.Imaged.
func (s *sandbox) Image() string { return s.image }

// Close implements driver.Sandbox.
func (s *sandbox) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.life.mu.Lock() // so that no work begins any more
	s.stopWork()
	s.life.mu.Unlock()
	s.work.Wait()
	err := s.c.kill(ctx, s.id)
	s.closed = err == nil
	return err
}
