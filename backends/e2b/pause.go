//go:build !remotebox_runner

package e2b

import (
	"context"
	"fmt"
	"time"

	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

// flushTime is how long a sandbox may take to write its files out before a pause.
const flushTime = 30 * time.Second

// Pause implements driver.Pauser. No stream to the sandbox may be open: E2B's agent would go on
// writing to its other end after the pause, and block (E2B issue 1587).
func (s *sandbox) Pause(ctx context.Context) error {
	s.life.interrupt()
	if s.posted != nil {
		select {
		case <-s.posted:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.flush(ctx)
	return s.c.pause(ctx, s.id)
}

// flush has the sandbox write out its files, of which pauses have lost some (E2B issues 884 and 1104).
// It is no reason not to pause if it fails: the sandbox may be paused already.
func (s *sandbox) flush(ctx context.Context) {
	if s.c.debug {
		return
	}
	ctx, stop := context.WithTimeout(ctx, flushTime)
	defer stop()
	f := &follower{started: make(chan struct{})}
	f.start(ctx, s.envd.process, &process.StartRequest{Process: &process.ProcessConfig{Cmd: "/bin/sync"}, Stdin: new(false)})
}

// Resume implements driver.Pauser.
func (s *sandbox) Resume(ctx context.Context) error {
	a, err := s.c.connect(ctx, s.id)
	if err != nil {
		return err
	}
	s.envd.setToken(a.AccessToken)
	s.life.renewed(s.c.TTL)
	return s.revived(ctx)
}

// revived returns once a sandbox that was connected to can be used. E2B's own answer says that it can,
// but servers that speak its API give it too early, or for sandboxes that are dead.
func (s *sandbox) revived(ctx context.Context) error {
	s.recheck()
	return s.healthy(ctx)
}

// recheck says so, beside whatever else is done, if a sandbox that was connected to will be destroyed
// at the end of its TTL although AutoPause is set: some servers forget it (E2B issue 875), and the
// sandbox may be one that somebody made without it.
func (s *sandbox) recheck() {
	if !s.c.AutoPause || s.c.debug {
		return
	}
	s.life.mu.Lock()
	defer s.life.mu.Unlock()
	if s.closing.Err() != nil {
		return
	}
	s.work.Go(func() {
		a, err := s.c.detail(s.closing, s.id)
		if err == nil && a.Lifecycle.OnTimeout == "kill" {
			fmt.Fprintf(s.c.log, "e2b: sandbox %s will be destroyed at the end of its TTL, not paused: AutoPause was not set when it was made, or the server has forgotten it\n", s.id)
		}
	})
}
