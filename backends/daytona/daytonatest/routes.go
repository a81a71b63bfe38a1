//go:build !remotebox_runner

package daytonatest

import (
	"crypto/subtle"
	"net/http"
	"strings"
)

// apiHandler answers one call of the control plane: a status and a body, or an error. A nil body is none.
type apiHandler func(w http.ResponseWriter, r *http.Request) (int, any, error)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern, throttler string, h apiHandler) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.Handle(method+" /api"+path, s.endpoint(throttler, h))
	}
	mux.HandleFunc("GET /api/config", s.getConfig)
	mux.HandleFunc("GET /api/health", s.getHealth)
	mux.HandleFunc("GET /api/health/ready", s.getHealth)
	mux.HandleFunc("GET /api/shared-regions", s.getSharedRegions)
	handle("GET /regions", "", s.getRegions)
	handle("GET /organizations/{id}/usage", "", s.getUsage)
	handle("GET /object-storage/push-access", "", s.getPushAccess)

	handle("POST /sandbox", "sandbox-create", s.createSandbox)
	handle("GET /sandbox", "", s.listSandboxes)
	handle("GET /sandbox/paginated", "", s.pageSandboxes)
	handle("GET /sandbox/{s}", "", s.onSandbox(200, nil))
	handle("DELETE /sandbox/{s}", "sandbox-lifecycle", s.deleteSandbox)
	handle("POST /sandbox/{s}/start", "sandbox-lifecycle", s.onSandbox(200, func(_ *http.Request, sb *sandbox) error { return s.start(sb) }))
	handle("POST /sandbox/{s}/stop", "sandbox-lifecycle", s.onSandbox(200, func(r *http.Request, sb *sandbox) error {
		return s.stop(sb, r.URL.Query().Get("force") == "true")
	}))
	handle("POST /sandbox/{s}/pause", "sandbox-lifecycle", s.onSandbox(200, func(_ *http.Request, sb *sandbox) error { return s.pause(sb) }))
	handle("POST /sandbox/{s}/archive", "sandbox-lifecycle", s.onSandbox(200, func(_ *http.Request, sb *sandbox) error { return s.archive(sb) }))
	handle("POST /sandbox/{s}/recover", "sandbox-lifecycle", s.onSandbox(200, func(r *http.Request, sb *sandbox) error {
		return s.recover(sb, r.URL.Query().Get("skipStart") == "true")
	}))
	for name, set := range settings() {
		handle("POST /sandbox/{s}/"+name+"/{n}", "", s.onSandbox(201, func(r *http.Request, sb *sandbox) error {
			n, err := pathInt(r.PathValue("n"))
			if err != nil {
				return err
			}
			return set(sb, n)
		}))
	}
	handle("POST /sandbox/{s}/public/{n}", "", s.onSandbox(201, func(r *http.Request, sb *sandbox) error {
		sb.public = r.PathValue("n") == "true"
		return nil
	}))
	handle("PUT /sandbox/{s}/labels", "", s.putLabels)
	handle("POST /sandbox/{s}/last-activity", "", s.postLastActivity)
	handle("POST /sandbox/{s}/network-settings", "", s.postNetwork)
	handle("POST /sandbox/{s}/snapshot", "", s.snapshotSandbox)
	handle("GET /sandbox/{s}/build-logs-url", "", s.getSandboxLogsURL)
	handle("GET /sandbox/{s}/toolbox-proxy-url", "", s.getToolboxURL)
	handle("GET /sandbox/{s}/ports/{port}/preview-url", "", s.getPreview)
	handle("GET /sandbox/{s}/ports/{port}/signed-preview-url", "", s.getSignedPreview)
	handle("POST /sandbox/{s}/ports/{port}/signed-preview-url/{token}/expire", "", s.expirePreview)

	handle("POST /snapshots", "", s.createSnapshot)
	handle("GET /snapshots", "", s.listSnapshots)
	handle("GET /snapshots/{s}", "", s.getSnapshot)
	handle("DELETE /snapshots/{s}", "", s.deleteSnapshot)
	handle("POST /snapshots/{s}/activate", "", s.activateSnapshot)
	handle("POST /snapshots/{s}/deactivate", "", s.deactivateSnapshot)
	handle("GET /snapshots/{s}/build-logs-url", "", s.getSnapshotLogsURL)

	mux.HandleFunc("GET /snapshots/{s}/build-logs", s.snapshotLogs)
	mux.HandleFunc("GET /sandboxes/{s}/build-logs", s.sandboxLogs)
	mux.HandleFunc("/preview/{token}/", s.servePreview)
	mux.HandleFunc("/toolbox/{id}/", s.proxy)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.writeError(w, r, fail(404, "Cannot %s %s", r.Method, r.URL.Path))
	})
	return mux
}

// endpoint checks the key and the rate, and turns errors into answers.
func (s *Server) endpoint(throttler string, h apiHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Daytona-Api-Version", s.version())
		if !s.authorized(r) {
			s.writeError(w, r, fail(401, "Invalid credentials"))
			return
		}
		for _, t := range []string{"authenticated", throttler} {
			if t != "" && !s.limits.pass(w, t) {
				s.writeError(w, r, fail(429, "ThrottlerException: Too Many Requests"))
				return
			}
		}
		status, body, err := h(w, r)
		switch {
		case err != nil:
			s.writeError(w, r, err)
		case body == nil:
			w.WriteHeader(status)
		default:
			writeJSON(w, status, body)
		}
	})
}

func (s *Server) authorized(r *http.Request) bool {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(key), []byte(s.Key)) == 1
}
