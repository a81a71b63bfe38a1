//go:build !remotebox_runner

package e2btest

import (
	"errors"
	"net/http"
	"strings"
)

// handler is an operation of the control plane.
type handler func(r *http.Request) (answer, error)

// apiHandler is the control plane.
func (s *Server) apiHandler() http.Handler {
	mux := http.NewServeMux()
	routes := map[string]handler{
		"POST /sandboxes":                           s.createSandbox,
		"GET /sandboxes":                            s.listRunning,
		"GET /v2/sandboxes":                         s.listSandboxes,
		"GET /sandboxes/metrics":                    s.bulkMetrics,
		"GET /sandboxes/{id}":                       s.getSandbox,
		"DELETE /sandboxes/{id}":                    s.deleteSandbox,
		"POST /sandboxes/{id}/connect":              s.connectSandbox,
		"POST /sandboxes/{id}/resume":               s.resumeSandbox,
		"POST /sandboxes/{id}/pause":                s.pauseSandbox,
		"POST /sandboxes/{id}/timeout":              s.setTimeout,
		"POST /sandboxes/{id}/refreshes":            s.refreshSandbox,
		"POST /sandboxes/{id}/snapshots":            s.createSnapshot,
		"POST /sandboxes/{id}/fork":                 s.forkSandbox,
		"PUT /sandboxes/{id}/network":               s.updateNetwork,
		"GET /sandboxes/{id}/metrics":               s.sandboxMetrics,
		"GET /sandboxes/{id}/logs":                  s.sandboxLogs,
		"GET /v2/sandboxes/{id}/logs":               s.sandboxLogs,
		"GET /snapshots":                            s.listSnapshots,
		"POST /v3/templates":                        s.createTemplate,
		"GET /v2/templates":                         s.listTemplates,
		"GET /templates":                            s.listTemplates,
		"POST /v2/templates/{id}/builds/{build}":    s.startBuild,
		"GET /templates/{id}/builds/{build}/status": s.buildStatus,
		"GET /templates/{id}/builds/{build}/logs":   s.buildLogs,
		"GET /templates/{id}/files/{hash}":          s.fileLink,
		"POST /templates/tags":                      s.assignTags,
		"DELETE /templates/tags":                    s.deleteTags,
		"GET /templates/{id}":                       s.getTemplate,
		"PATCH /v2/templates/{id}":                  s.updateTemplate,
		"PATCH /templates/{id}":                     s.updateTemplate,
		"DELETE /templates/{id}":                    s.deleteTemplate,
		// Two routes that overlap: /templates/aliases/{alias}, /templates/{id}/tags.
		"GET /templates/{id}/{part}": s.aliasOrTags,
	}
	if !s.cfg.OldServer {
		routes["POST /v2/sandboxes"] = s.createSandbox2
		routes["POST /v2/sandboxes/{id}/connect"] = s.connectSandbox2
	}
	known := http.NewServeMux()
	seen := make(map[string]bool)
	for pattern, h := range routes {
		mux.HandleFunc(pattern, s.authenticated(h))
		if _, path, _ := strings.Cut(pattern, " "); !seen[path] {
			seen[path] = true
			known.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
		}
	}
	// E2B answers 404 for a known path with another method too; clients of the
	// newer API recognise an old server by it.
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		what := "no matching operation was found"
		if _, pattern := known.Handler(r); pattern != "" {
			what = "method not allowed"
		}
		fail(http.StatusNotFound, "validation error: %s", what).write(w)
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("PUT /storage/{token}", s.storage.put)
	return mux
}

// authenticated checks the key before anything else of the request is looked at.
func (s *Server) authenticated(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("X-API-KEY") {
		case s.Key:
		case "":
			fail(http.StatusUnauthorized, "authorization header is missing").write(w)
			return
		default:
			fail(http.StatusUnauthorized, "Invalid API key, please visit https://e2b.dev/docs/api-key to get your API key.\nCannot get the team for the given API key").write(w)
			return
		}
		result, err := h(r)
		var apiErr *apiError
		switch {
		case err == nil:
			result.write(w)
		case errors.As(err, &apiErr):
			apiErr.write(w)
		default:
			s.cfg.Logger.Error("request failed", "path", r.URL.Path, "error", err)
			(&apiError{Code: 500, ErrorCode: "internal_server_error", Message: err.Error()}).write(w)
		}
	}
}
