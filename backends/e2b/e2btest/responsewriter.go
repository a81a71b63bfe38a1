//go:build !remotebox_runner

package e2btest

import "net/http"

// responseWriter notes the status, and can reset the connection in the middle of
// the body.
type responseWriter struct {
	http.ResponseWriter
	request *http.Request
	left    int64 // bytes of the body until the reset; negative: no reset
	code    int
}

// Unwrap is for http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *responseWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *responseWriter) Write(p []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	if w.left < 0 || int64(len(p)) < w.left {
		if w.left > 0 {
			w.left -= int64(len(p))
		}
		return w.ResponseWriter.Write(p)
	}
	w.ResponseWriter.Write(p[:w.left])
	w.Flush()
	abort(w.request)
	return 0, nil // not reached
}

func (w *responseWriter) Flush() {
	http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *responseWriter) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}
