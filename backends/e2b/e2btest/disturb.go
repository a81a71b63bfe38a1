//go:build !remotebox_runner

package e2btest

import (
	"context"
	"io"
	"net/http"
	"time"
)

// observe counts, delays and disturbs the requests to handler.
func (s *Server) observe(plane Plane, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entry := s.requests.record(plane, r)
		var fault Fault
		if hit := s.faults.match(entry); hit != nil {
			fault = hit.fault
			if fault.Reset == ResetMeanwhile && s.begin() {
				late := r.WithContext(context.WithoutCancel(r.Context()))
				go func() {
					defer s.work.Done()
					defer hit.handled()
					if s.wait(nil, fault.Delay) {
						handler.ServeHTTP(&nowhere{header: make(http.Header)}, late)
					}
				}()
				abort(r)
			}
			defer hit.handled()
		}
		if fault.Unaware {
			r = r.WithContext(context.WithoutCancel(r.Context()))
		}
		s.mu.Lock()
		delay := s.latency + fault.Delay
		s.mu.Unlock()
		if !s.wait(r.Context().Done(), delay) {
			abort(r)
		}
		out := &responseWriter{ResponseWriter: w, request: r, left: -1}
		switch {
		case fault.Status != 0:
			for name, values := range fault.Header {
				w.Header()[http.CanonicalHeaderKey(name)] = values
			}
			s.requests.done(entry, fault.Status)
			w.WriteHeader(fault.Status)
			io.WriteString(w, fault.Body)
			return
		case fault.Reset == ResetBefore, fault.Reset == ResetMeanwhile:
			abort(r)
		case fault.Reset == ResetAfter:
			handler.ServeHTTP(&nowhere{header: make(http.Header)}, r)
			abort(r)
		case fault.CutAfter != 0:
			out.left = max(0, fault.CutAfter)
		}
		handler.ServeHTTP(out, r)
		s.requests.done(entry, out.status())
	})
}

// wait waits for d; false means that the client has left, or that the server closes.
func (s *Server) wait(left <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-left:
	case <-s.ctx.Done():
	}
	return false
}
