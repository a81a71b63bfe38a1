//go:build !remotebox_runner

package e2btest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
)

// Server is a running E2B. Its methods may be called from many goroutines.
type Server struct {
	// Key is the API key that the server accepts.
	Key string

	cfg       Config
	dir       string
	isolation string
	api, data *listener

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	requests requestLog
	faults   faultList
	storage  storage

	work      sync.WaitGroup // builds
	closeOnce sync.Once
	closeErr  error

	mu        sync.Mutex
	closed    bool
	latency   time.Duration
	sandboxes map[string]*sandbox
	templates map[string]*template
	created   []time.Time // creations of the last second
}

// TB is what New needs of a *testing.T.
type TB interface {
	Helper()
	Fatal(...any)
	Cleanup(func())
}

// New starts a server that the end of the test closes.
func New(t TB, cfg Config) *Server {
	t.Helper()
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Start starts a server. The caller must Close it.
func Start(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg.withDefaults(), sandboxes: make(map[string]*sandbox), templates: make(map[string]*template)}
	s.Key, s.latency = s.cfg.Key, s.cfg.Latency
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		s.Close()
		return nil, fmt.Errorf("e2btest: %w", err)
	}
	return s, nil
}

func (s *Server) open() error {
	dir, err := os.MkdirTemp(s.cfg.Dir, "e2btest-")
	if err != nil {
		return err
	}
	s.dir = dir
	// Users of sandboxes, too, must reach what lies below.
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	if err := jail.WriteBase(s.path("base")); err != nil {
		return err
	}
	if err := s.tryIsolation(); err != nil {
		return err
	}
	if err := os.Mkdir(s.path("storage"), 0o700); err != nil {
		return err
	}
	s.storage.open(s.path("storage"))
	s.addBaseTemplate()
	if s.api, err = s.listen(PlaneAPI, s.apiHandler()); err != nil {
		return err
	}
	if s.data, err = s.listen(PlaneSandbox, http.HandlerFunc(s.proxy)); err != nil {
		return err
	}
	s.api.serve()
	s.data.serve()
	return nil
}

// tryIsolation finds out what this process may do, by doing it.
func (s *Server) tryIsolation() error {
	try := func() error {
		dir := s.path("try")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		j, err := jail.New(jail.Config{Dir: dir, Base: s.path("base"), Unconfined: s.cfg.Unconfined, PrivateNetwork: s.cfg.PrivateNetwork})
		if err != nil {
			return err
		}
		return errors.Join(j.Close(), os.RemoveAll(dir))
	}
	s.isolation = "directory"
	if s.cfg.Unconfined {
		return try()
	}
	err := try()
	if err == nil {
		s.isolation = "namespaces"
		return nil
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	s.isolation = "directory: " + err.Error()
	s.cfg.Unconfined = true
	return try()
}

func (s *Server) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// APIURL is the address of the control plane, for E2B_API_URL.
func (s *Server) APIURL() string { return s.api.url }

// SandboxURL is the address of every sandbox's envd and ports, for
// E2B_SANDBOX_URL; headers say which is meant.
func (s *Server) SandboxURL() string { return s.data.url }

// Isolation says how sandboxes are kept apart: "namespaces", or "directory" and
// why it isn't more.
func (s *Server) Isolation() string { return s.isolation }

// SetLatency changes what is added to every request.
func (s *Server) SetLatency(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency = d
}

// Close kills every sandbox and build, and waits for all processes and
// goroutines of the server.
func (s *Server) Close() error {
	s.closeOnce.Do(func() { s.closeErr = s.shut() })
	return s.closeErr
}

func (s *Server) shut() error {
	s.mu.Lock()
	s.closed = true
	boxes := s.all()
	s.mu.Unlock()
	s.cancel()
	for _, l := range []*listener{s.api, s.data} {
		if l != nil {
			l.stop()
		}
	}
	for _, sb := range boxes {
		sb.destroy() // fails when it is gone already
	}
	for _, l := range []*listener{s.api, s.data} {
		if l != nil {
			l.wait()
		}
	}
	s.work.Wait()
	// A creation that was under way has added its sandbox by now.
	s.mu.Lock()
	boxes = s.all()
	s.mu.Unlock()
	for _, sb := range boxes {
		sb.destroy()
	}
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// all returns every sandbox; the caller holds s.mu.
func (s *Server) all() []*sandbox {
	list := make([]*sandbox, 0, len(s.sandboxes))
	for _, sb := range s.sandboxes {
		list = append(list, sb)
	}
	return list
}
