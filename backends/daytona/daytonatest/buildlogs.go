//go:build !remotebox_runner

package daytonatest

import (
	"context"
	"net/http"
)

func (s *Server) getSnapshotLogsURL(w http.ResponseWriter, r *http.Request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sn, err := s.findSnapshot(r.PathValue("s"))
	if err != nil {
		return 0, nil, err
	}
	if sn.build == nil {
		return 0, nil, fail(404, "Snapshot %s has no build info", sn.name)
	}
	return 200, map[string]any{"url": s.apiURL + "/snapshots/" + sn.id + "/build-logs"}, nil
}

func (s *Server) getSandboxLogsURL(w http.ResponseWriter, r *http.Request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, err := s.find(r.PathValue("s"))
	if err != nil {
		return 0, nil, err
	}
	if sb.build == nil {
		return 0, nil, fail(404, "Sandbox %s has no build info", sb.id)
	}
	return 200, map[string]any{"url": s.apiURL + "/sandboxes/" + sb.id + "/build-logs"}, nil
}

func (s *Server) snapshotLogs(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	sn, err := s.findSnapshot(r.PathValue("s"))
	var b *buildInfo
	if err == nil {
		b = sn.build
	}
	s.mu.Unlock()
	s.serveLog(w, r, b)
}

func (s *Server) sandboxLogs(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	sb, err := s.find(r.PathValue("s"))
	var b *buildInfo
	if err == nil {
		b = sb.build
	}
	s.mu.Unlock()
	s.serveLog(w, r, b)
}

func (s *Server) serveLog(w http.ResponseWriter, r *http.Request, b *buildInfo) {
	if !s.authorized(r) {
		s.writeProxyError(w, r, 401, "authentication failed: Bearer token is invalid")
		return
	}
	var log *logBuffer
	if b != nil {
		s.mu.Lock()
		log = b.log
		s.mu.Unlock()
	}
	if log == nil {
		s.writeProxyError(w, r, 404, "build logs not found")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.WriteHeader(200)
	_ = s.followLog(r.Context(), log, r.URL.Query().Get("follow") == "true", func(p []byte) error {
		_, err := w.Write(p)
		flush(w)
		return err
	})
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// followLog writes a build's log, and what is added to it while it is followed.
func (s *Server) followLog(ctx context.Context, log *logBuffer, follow bool, write func([]byte) error) error {
	if !follow {
		return write(log.bytes())
	}
	for off := 0; ; {
		for poll := s.cfg.LogPoll; poll > 0 && !log.has(off); {
			if err := sleep(ctx, poll); err != nil {
				return err
			}
		}
		p, err := log.next(ctx, off)
		if err != nil {
			return err
		}
		if p == nil {
			return sleep(ctx, s.cfg.Times.FollowEnd)
		}
		if err := write(p); err != nil {
			return err
		}
		off += len(p)
	}
}
