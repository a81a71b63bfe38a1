//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"time"
)

// onSandbox answers with a sandbox after act, called with s.mu held, has done something to it.
func (s *Server) onSandbox(status int, act func(*http.Request, *sandbox) error) apiHandler {
	return func(_ http.ResponseWriter, r *http.Request) (int, any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		sb, err := s.find(r.PathValue("s"))
		if err != nil {
			return 0, nil, err
		}
		if act != nil {
			if sb.state == "destroying" {
				return 0, nil, fail(404, "Sandbox with ID or name %s not found", r.PathValue("s"))
			}
			if err := act(r, sb); err != nil {
				return 0, nil, err
			}
			sb.updated = time.Now()
		}
		return status, s.dto(sb), nil
	}
}

func (s *Server) deleteSandbox(w http.ResponseWriter, r *http.Request) (int, any, error) {
	return s.onSandbox(200, func(_ *http.Request, sb *sandbox) error {
		if sb.busy {
			return fail(409, "Sandbox state change in progress")
		}
		s.destroy(sb)
		return nil
	})(w, r)
}

func (s *Server) putLabels(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var req struct {
		Labels map[string]string `json:"labels"`
	}
	if err := readJSON(w, r, &req); err != nil {
		return 0, nil, err
	}
	status, _, err := s.onSandbox(200, func(_ *http.Request, sb *sandbox) error {
		sb.labels = orEmpty(req.Labels)
		return nil
	})(w, r)
	return status, map[string]any{"labels": orEmpty(req.Labels)}, err
}

func (s *Server) postNetwork(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var req struct {
		BlockAll    *bool   `json:"networkBlockAll"`
		AllowList   *string `json:"networkAllowList"`
		DomainAllow *string `json:"domainAllowList"`
	}
	if err := readJSON(w, r, &req); err != nil {
		return 0, nil, err
	}
	return s.onSandbox(201, func(_ *http.Request, sb *sandbox) error {
		if req.BlockAll != nil {
			sb.blockAll = *req.BlockAll
		}
		if req.AllowList != nil {
			sb.networkAllow = *req.AllowList
		}
		if req.DomainAllow != nil {
			sb.domainAllow = *req.DomainAllow
		}
		return nil
	})(w, r)
}

func (s *Server) postLastActivity(w http.ResponseWriter, r *http.Request) (int, any, error) {
	status, _, err := s.onSandbox(201, func(_ *http.Request, sb *sandbox) error {
		sb.lastActivity = time.Now()
		return nil
	})(w, r)
	return status, nil, err
}

func (s *Server) getToolboxURL(w http.ResponseWriter, r *http.Request) (int, any, error) {
	status, _, err := s.onSandbox(200, nil)(w, r)
	return status, map[string]any{"url": s.ToolboxURL()}, err
}
