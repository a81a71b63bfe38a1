//go:build !remotebox_runner

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/remote-box/remote/internal/httpapi"
)

// TestRedirect checks that a redirect is an error that says where to, and that nothing is sent there.
func TestRedirect(t *testing.T) {
	elsewhere := newServer(t)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusTemporaryRedirect} {
		s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/x?signature=s3cret", status)
		})
		c := &httpapi.Client{Base: s.URL, HTTP: http.DefaultClient, Header: http.Header{"X-Key": {"k"}}}
		_, err := c.Do(t.Context(), &httpapi.Request{Method: http.MethodPost, Path: "/p", JSON: "body", Retry: httpapi.Idempotent}, nil)
		if httpapi.Status(err) != status || !strings.Contains(err.Error(), elsewhere.URL) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := elsewhere.count(); n > 0 {
		t.Errorf("%d requests were sent elsewhere", n)
	}
}
