//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
)

// sandbox is one sandbox of Daytona.
type sandbox struct {
	backend Backend
	api     *api
	toolbox *httpapi.Client
	id      string
	image   string // the snapshot's name
	memory  int64  // MiB, 0 if unknown
	once    bool

	life  chan struct{} // held by whoever starts, stops or restarts it
	quiet silence       // guarded by life
	pulse pulse

	mu     sync.Mutex
	idle   []*worker      // ready for a command
	work   sync.WaitGroup // workers being made or ended in the background
	until  context.Context
	end    context.CancelFunc // ends until, and with it the work
	shut   bool               // no worker is kept any more
	closed bool
}

var (
	_ driver.Files  = (*sandbox)(nil)
	_ driver.Pauser = (*sandbox)(nil)
	_ driver.Imaged = (*sandbox)(nil)
)

func newSandbox(b Backend, a *api, info *sandboxInfo, once bool) (*sandbox, error) {
	base, err := checkURL(info.ToolboxProxyURL)
	if err != nil {
		return nil, fmt.Errorf("daytona: the toolbox URL of the sandbox %s: %w", info.ID, err)
	}
	s := &sandbox{backend: b, api: a, id: info.ID, image: info.Snapshot, memory: int64(info.Memory * 1024), once: once, life: make(chan struct{}, 1)}
	s.until, s.end = context.WithCancel(context.Background())
	toolbox := *a.http
	toolbox.Base = base + "/" + info.ID // the proxy knows sandboxes by their ids only
	toolbox.HTTP = &http.Client{Transport: listener{a.http.HTTP.Transport, &s.pulse}}
	s.toolbox = &toolbox
	return s, nil
}

// ID implements driver.Sandbox.
func (s *sandbox) ID() string { return s.id }

// Image implements driver.Imaged.
func (s *sandbox) Image() string { return s.image }

// seize waits until nobody else starts, stops or restarts the sandbox, until yield.
func (s *sandbox) seize(ctx context.Context) error {
	select {
	case s.life <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *sandbox) yield() { <-s.life }

// begin waits until a new sandbox can be used.
func (s *sandbox) begin(ctx context.Context) error {
	if err := s.seize(ctx); err != nil {
		return err
	}
	defer s.yield()
	// Daytona has held the request that created it until it runs: most often it does.
	w, err := s.newWorker(ctx)
	if err == nil {
		s.keep(w)
		return nil
	}
	return s.bringUp(ctx, nil, true)
}

// Resume implements driver.Pauser.
func (s *sandbox) Resume(ctx context.Context) error { return s.resume(ctx, nil) }

// resume makes the sandbox run; info is what is known about it, if anything is.
func (s *sandbox) resume(ctx context.Context, info *sandboxInfo) error {
	ctx, cancel := context.WithTimeout(ctx, s.backend.createTimeout())
	defer cancel()
	if err := s.seize(ctx); err != nil {
		return err
	}
	defer s.yield()
	s.mu.Lock()
	if s.shut {
		s.until, s.end = context.WithCancel(context.Background())
		s.shut = false
	}
	s.mu.Unlock()
	return s.bringUp(ctx, info, false)
}

// Pause implements driver.Pauser: it stops a container and suspends a virtual machine.
func (s *sandbox) Pause(ctx context.Context) error {
	if s.backend.PauseSemantics() == driver.PauseNone {
		return fmt.Errorf("daytona: Ephemeral: the sandbox %s is deleted when it is stopped, so that it can't be paused: %w", s.id, errors.ErrUnsupported)
	}
	ctx, cancel := context.WithTimeout(ctx, s.backend.createTimeout())
	defer cancel()
	if err := s.seize(ctx); err != nil {
		return err
	}
	defer s.yield()
	s.letGo()
	if s.backend.class() == LinuxVM {
		return s.bringDown(ctx, "pause", "paused")
	}
	if err := s.bringDown(ctx, "stop", "stopped"); err != nil || !s.backend.ArchivePaused {
		return err
	}
	return s.bringDown(ctx, "archive", "archived")
}

// Close implements driver.Sandbox. The end of a session is followed until nothing is left; that of
// a single call, for which its caller waits, only until it has begun.
func (s *sandbox) Close(ctx context.Context) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.letGo()
	if err := s.api.remove(ctx, s.id, !s.once); err != nil {
		return fmt.Errorf("removing the sandbox %s: %w", s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// letGo ends the connections to the sandbox and what goes on in the background.
func (s *sandbox) letGo() {
	s.mu.Lock()
	s.shut = true
	s.end()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, w := range idle {
		w.drop()
	}
	s.work.Wait()
}
