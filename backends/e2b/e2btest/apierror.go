//go:build !remotebox_runner

package e2btest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// apiError is an answer of the control plane that isn't success.
type apiError struct {
	Code      int    `json:"code"`
	ErrorCode string `json:"error_code,omitempty"`
	Message   string `json:"message"`

	retryAfter int // seconds; 0 for no header
}

func (e *apiError) Error() string { return e.Message }

func fail(status int, format string, args ...any) *apiError {
	return &apiError{Code: status, Message: fmt.Sprintf(format, args...)}
}

func sandboxNotFound(id string) *apiError {
	return fail(http.StatusNotFound, "Sandbox %q doesn't exist or you don't have access to it", id)
}

// answer is what a handler of the control plane returns on success.
type answer struct {
	status int
	body   any // nil for none
	header http.Header
}

func (e *apiError) write(w http.ResponseWriter) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	writeJSON(w, e.Code, e)
}

func (a answer) write(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.body == nil {
		// No type either: the JavaScript SDK would try to parse an empty body.
		if a.status != http.StatusNoContent {
			w.Header().Set("Content-Length", "0")
		}
		w.WriteHeader(a.status)
		return
	}
	writeJSON(w, a.status, a.body)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // of types of this package only
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	w.Write(data)
}
