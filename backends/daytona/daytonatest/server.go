//go:build !remotebox_runner

package daytonatest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// A Server is a running Daytona. Its methods are safe for concurrent use.
type Server struct {
	Key string // the API key that it accepts

	cfg     Config
	orgID   string
	dir     string
	ownDir  bool
	system  system
	api     *http.Server
	store   *http.Server
	apiURL  string // http://host:port
	bucket  *bucket
	journal journal
	faults  faults
	limits  limits

	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	requests sync.WaitGroup // handlers
	tasks    sync.WaitGroup // transitions, builds, timers, listeners
	once     sync.Once

	mu        sync.Mutex // guards what follows, and the fields of every sandbox and snapshot
	closed    bool
	sandboxes []*sandbox
	snapshots []*snapshot
	images    map[string]*image // by snapshot reference
	previews  map[string]preview
	changed   chan struct{} // closed and replaced at each state change
}

// New starts a server that is closed when t ends. It fails t where a server can't run.
func New(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts a server. The caller closes it.
func Start(cfg Config) (*Server, error) {
	cfg.fill()
	s := &Server{cfg: cfg, Key: cfg.Key, orgID: newUUID(), images: map[string]*image{}, previews: map[string]preview{}, changed: make(chan struct{})}
	if s.Key == "" {
		s.Key = "dtn_" + randomHex(32)
	}
	s.limits.cfg = &s.cfg
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if err := s.open(); err != nil {
		s.Close()
		return nil, fmt.Errorf("daytonatest: %w", err)
	}
	return s, nil
}

func (s *Server) open() error {
	var err error
	if s.system, s.dir, s.ownDir, err = openSystem(s.cfg); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "disks"), 0o755); err != nil {
		return err
	}
	s.bucket = newBucket(s.cfg.Regions[0], s.orgID, filepath.Join(s.dir, "objects"))
	s.addPlatformSnapshots()

	ln, err := net.Listen("tcp", s.cfg.Addr)
	if err != nil {
		return err
	}
	s.apiURL = "http://" + ln.Addr().String()
	s.api = s.serve(ln, s.outer("", s.routes()))

	host, _, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return err
	}
	// Storage has a port of its own, as it has a host of its own in the cloud: path-style S3 clients disagree about
	// endpoints that have a path.
	if ln, err = net.Listen("tcp", net.JoinHostPort(host, "0")); err != nil {
		return err
	}
	s.bucket.url = "http://" + ln.Addr().String()
	s.store = s.serve(ln, s.outer("storage", s.bucket))
	s.run(s.timers)
	return nil
}

func (s *Server) serve(ln net.Listener, h http.Handler) *http.Server {
	srv := &http.Server{Handler: h, IdleTimeout: 70 * time.Second, ReadHeaderTimeout: 10 * time.Second}
	s.run(func() { _ = srv.Serve(ln) })
	return srv
}

// run starts a goroutine that Close waits for. It reports whether it did: a closed server starts nothing.
func (s *Server) run(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.tasks.Go(f)
	return true
}

// enter counts a request in, unless the server is closing.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.requests.Add(1)
	return true
}

// APIURL is the base URL of the control plane, as in DAYTONA_API_URL.
func (s *Server) APIURL() string { return s.apiURL + "/api" }

// ToolboxURL is the base URL of the toolbox proxy; a sandbox's identifier follows.
func (s *Server) ToolboxURL() string { return s.apiURL + "/toolbox" }

// Env is the environment that Daytona's SDKs and tools find the server by.
func (s *Server) Env() []string {
	return []string{"DAYTONA_API_KEY=" + s.Key, "DAYTONA_API_URL=" + s.APIURL(), "DAYTONA_TARGET=" + s.cfg.Regions[0]}
}

// OrganizationID is the organization that the key belongs to.
func (s *Server) OrganizationID() string { return s.orgID }

// Isolated reports whether sandboxes have namespaces, so that absolute paths in them are private.
func (s *Server) Isolated() bool { return s.system.isolated() }

// Close ends every request, kills every process that the server started, waits for both and removes the server's
// files. It may be called more than once.
func (s *Server) Close() {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		s.mu.Unlock()
		s.cancel()
		for _, srv := range []*http.Server{s.api, s.store} {
			if srv != nil {
				_ = srv.Close()
			}
		}
		s.mu.Lock()
		var machines []machine
		for _, sb := range s.sandboxes {
			if sb.machine != nil {
				machines = append(machines, sb.machine)
			}
		}
		s.mu.Unlock()
		for _, m := range machines {
			m.kill()
		}
		s.requests.Wait()
		s.tasks.Wait()
		if s.ownDir {
			_ = os.RemoveAll(s.dir)
		}
	})
}

// notify wakes everybody who waits for a state. s.mu is held.
func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// await waits until ok, called with s.mu held, says so; false when ctx, the server or the limit ended first.
func (s *Server) await(ctx context.Context, limit time.Duration, ok func() bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		s.mu.Lock()
		done, changed := ok(), s.changed
		s.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		case <-s.ctx.Done():
			return false
		}
	}
}

// sleep waits for d, or until the server closes.
func (s *Server) sleep(d time.Duration) error { return sleep(s.ctx, d) }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errClosed = errors.New("daytonatest: server closed")

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func newUUID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
