//go:build !remotebox_runner

package daytonatest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// An apiError is an answer of the control plane other than success.
type apiError struct {
	status  int
	message string
	code    string
}

func (e *apiError) Error() string { return e.message }

func fail(status int, format string, args ...any) *apiError {
	return &apiError{status: status, message: fmt.Sprintf(format, args...)}
}

func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := err.(*apiError)
	if !ok {
		e = fail(http.StatusInternalServerError, "%v", err)
	}
	body := map[string]any{
		"path": r.URL.Path, "timestamp": time.Now().UTC().Format(time.RFC3339Nano),
		"statusCode": e.status, "error": http.StatusText(e.status), "message": e.message,
	}
	if !s.cfg.V190 {
		body["source"], body["code"] = "DAYTONA_API", e.code
		if e.code == "" {
			body["code"] = codeOf(e.status)
		}
	}
	writeJSON(w, e.status, body)
}

// writeProxyError is how the toolbox proxy says that a request did not reach a sandbox.
func (s *Server) writeProxyError(w http.ResponseWriter, r *http.Request, status int, message string) {
	body := map[string]any{
		"statusCode": status, "message": message, "code": codeOf(status),
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "path": r.URL.Path, "method": r.Method,
	}
	if !s.cfg.V190 {
		body["source"] = "DAYTONA_PROXY"
	}
	writeJSON(w, status, body)
}

// writeDaemonError is how the toolbox itself, inside the sandbox, says no.
func (s *Server) writeDaemonError(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	if code == "" {
		code = codeOf(status)
	}
	writeJSON(w, status, s.daemonError(r, status, code, message))
}

func (s *Server) daemonError(r *http.Request, status int, code, message string) map[string]any {
	body := map[string]any{
		"statusCode": status, "message": message, "code": code,
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano), "path": r.URL.Path, "method": r.Method,
	}
	if !s.cfg.V190 {
		body["source"] = "DAYTONA_DAEMON"
	}
	return body
}

func codeOf(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "BAD_REQUEST"
	case http.StatusUnauthorized:
		return "UNAUTHORIZED"
	case http.StatusForbidden:
		return "FORBIDDEN"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusRequestTimeout:
		return "REQUEST_TIMEOUT"
	case http.StatusConflict:
		return "CONFLICT"
	case http.StatusGone:
		return "GONE"
	case http.StatusUnprocessableEntity:
		return "UNPROCESSABLE_ENTITY"
	case http.StatusTooManyRequests:
		return "TOO_MANY_REQUESTS"
	}
	return "INTERNAL_SERVER_ERROR"
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone is no news
}

// maxJSON bounds request bodies that are decoded in memory.
const maxJSON = 64 << 20

// readJSON decodes a body. Unknown fields are ignored, as the service ignores them.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxJSON)).Decode(v)
	if err != nil {
		return fail(http.StatusBadRequest, "%v", err)
	}
	return nil
}
