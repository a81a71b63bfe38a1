//go:build !remotebox_runner

package daytonatest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// replayLimit is the largest body that the proxy keeps in order to repeat a request.
const replayLimit = 256 << 10

const notStarted = "failed to resolve container IP after 3 attempts: no IP address found. Is the Sandbox started?"

// proxy is the way to a sandbox's toolbox: /toolbox/{id}/….
func (s *Server) proxy(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	sb, err := s.find(id)
	known := err == nil && sb.id == id && s.authorized(r) // a name is not enough
	s.mu.Unlock()
	if !known {
		s.writeProxyError(w, r, 401, "authentication failed: Bearer token is invalid")
		return
	}
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/toolbox/"+id)
	r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/toolbox/"+id)
	r.Header.Del("Authorization")
	s.forward(w, r, sb)
}

// forward hands a request to a sandbox that runs, and says why not otherwise.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, sb *sandbox) {
	s.mu.Lock()
	state, d := sb.state, sb.daemon
	if r.Header.Get("X-Daytona-Skip-Last-Activity-Update") == "" {
		sb.lastActivity = time.Now()
		sb.open++
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			sb.open--
			sb.lastActivity = time.Now()
		}()
	}
	s.mu.Unlock()
	switch state {
	case "started":
		if d == nil || d.gone() {
			s.writeProxyError(w, r, 400, notStarted)
			return
		}
	case "stopped", "paused", "error", "build_failed", "pending_build", "building_snapshot":
		s.writeProxyError(w, r, 400, notStarted)
		return
	case "archived":
		s.writeProxyError(w, r, 400, "failed to get runner info: Sandbox with ID "+sb.id+" not found")
		return
	case "destroying", "destroyed":
		s.writeProxyError(w, r, 404, "sandbox container not found")
		return
	default:
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	s.reach(w, r, d)
}

// reach crosses the connection from the proxy to the sandbox, which a fault may break.
func (s *Server) reach(w http.ResponseWriter, r *http.Request, d *daemon) {
	ex := exchangeOf(r)
	serve := func(w http.ResponseWriter, r *http.Request) {
		s.journal.update(func() { ex.req.Runs++ })
		d.mux.ServeHTTP(w, r)
	}
	if ex.upstream == Never {
		serve(&upstream{ResponseWriter: w, d: d}, r)
		return
	}
	replay := s.cfg.ReplayingProxy && r.ContentLength >= 0 && r.ContentLength <= replayLimit
	var body []byte
	if replay {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if ex.upstream == After {
		serve(discard{http.Header{}}, r)
	}
	if !replay {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	serve(&upstream{ResponseWriter: w, d: d}, r)
}

// upstream is an answer on its way from the sandbox. When the sandbox is gone before the answer begins, there is none.
type upstream struct {
	http.ResponseWriter
	d     *daemon
	begun bool
	lost  bool
}

var errUpstream = errors.New("daytonatest: the sandbox is gone")

func (u *upstream) WriteHeader(status int) {
	if !u.begun && u.d.gone() {
		u.lost = true
		status = http.StatusBadGateway
		clear(u.Header())
	}
	u.begun = true
	u.ResponseWriter.WriteHeader(status)
}

func (u *upstream) Write(p []byte) (int, error) {
	if !u.begun {
		u.WriteHeader(http.StatusOK)
	}
	if u.lost {
		return 0, errUpstream
	}
	return u.ResponseWriter.Write(p)
}

func (u *upstream) Unwrap() http.ResponseWriter { return u.ResponseWriter }
