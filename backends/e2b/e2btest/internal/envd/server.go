//go:build !remotebox_runner

package envd

import (
	"encoding/json"
	"maps"
	"net/http"
	"sync"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
	"github.com/remote-box/remote/backends/e2b/internal/envdpb/filesystem/filesystemconnect"
	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process/processconnect"
)

// Version is the envd version that this package follows.
const Version = "0.6.13"

// Config is what the orchestrator tells envd at the start of a sandbox.
type Config struct {
	Jail        *jail.Jail
	AccessToken string            // empty: the sandbox is not secured
	Env         map[string]string // of every process
	UserEnv     map[string]string // of processes that clients start, over Env
	User        string            // default user
	Workdir     string            // default working directory; empty: the user's home
}

// Server is the envd of one sandbox.
type Server struct {
	cfg       Config
	mux       *http.ServeMux
	processes *processes
	watchers  *watchers

	closing chan struct{} // closed by Close
	running sync.WaitGroup
}

// New returns an envd. The caller must Close it, while or after closing the jail.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, mux: http.NewServeMux(), closing: make(chan struct{})}
	s.processes = &processes{server: s, table: make(map[uint32]*process)}
	s.watchers = &watchers{server: s, table: make(map[string]*watcher)}
	s.mux.HandleFunc("GET /health", s.health)
	s.mux.HandleFunc("GET /metrics", s.metrics)
	s.mux.HandleFunc("GET /envs", s.envs)
	s.mux.HandleFunc("GET /files", s.download)
	s.mux.HandleFunc("POST /files", s.upload)
	s.mux.HandleFunc("POST /files/compose", s.compose)
	s.mux.Handle(processconnect.NewProcessHandler(s.processes))
	s.mux.Handle(filesystemconnect.NewFilesystemHandler(&files{server: s}))
	return s
}

// ServeHTTP answers one request that the proxy passed on.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.authorized(w, r) {
		s.mux.ServeHTTP(w, r)
	}
}

// Interrupt makes everything that waits for a client or a process return. The
// jail must be closed too before Wait can return.
func (s *Server) Interrupt() {
	close(s.closing)
	s.processes.abandon()
	s.watchers.closeAll()
}

// Wait waits for the goroutines of an interrupted server.
func (s *Server) Wait() { s.running.Wait() }

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "")
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) envs(w http.ResponseWriter, r *http.Request) {
	env := make(map[string]string)
	maps.Copy(env, s.cfg.Env)
	maps.Copy(env, s.cfg.UserEnv)
	writeJSON(w, http.StatusOK, env)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// writeError answers a REST request the way envd does.
func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{status, message})
}
