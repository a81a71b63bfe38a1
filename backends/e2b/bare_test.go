//go:build linux && !remotebox_runner

package e2b_test

import (
	"io"
	"net/http"

	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// bare is one request that does nothing.
func bare(srv *e2btest.Server) error {
	resp, err := http.Get(srv.APIURL() + "/health")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
