//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
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
	made   *creation      // nil if another program made it
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

// tidy removes, beside whatever the sandbox is used for, what its creation has made too much.
func (s *sandbox) tidy(made *creation) {
	if s.made = made; made == nil || made.owed == 0 {
		return
	}
	s.work.Go(func() { made.watch(s.closing, createTime) })
}

// Close implements driver.Sandbox. What the sandbox's creation has made too much is removed too: that
// is waited for, if somebody still has to.
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
	if s.made != nil {
		err = errors.Join(err, s.made.remove(ctx, nil))
	}
	s.closed = err == nil
	return err
}
