//go:build !remotebox_runner

package main

import (
	"fmt"
	"os"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/subprocess"
)

// local is what the example runs on without an account.
func local() (b remote.Backend, stop func()) {
	srv, err := daytonatest.Start(daytonatest.Config{})
	if err == nil && srv.Isolated() {
		fmt.Fprintln(os.Stderr, "DAYTONA_API_KEY is not set: running on a server of this program's own")
		return daytona.Backend{APIKey: daytona.Secret(srv.Key), APIURL: srv.APIURL()}, srv.Close
	}
	if err == nil {
		srv.Close()
	}
	fmt.Fprintln(os.Stderr, "DAYTONA_API_KEY is not set: running on this host")
	return subprocess.Backend{}, func() {}
}
