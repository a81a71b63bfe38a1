//go:build linux && !remotebox_runner

package e2btest_test

import (
	"fmt"
	"log"
	"net/http"
	"strings"

	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// A client is pointed at the server by its two addresses and its key, as the
// official SDKs are by E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY.
func Example() {
	srv, err := e2btest.Start(e2btest.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer srv.Close()

	create := func() int {
		req, err := http.NewRequest("POST", srv.APIURL()+"/sandboxes", strings.NewReader(`{"templateID":"base","timeout":60}`))
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("X-API-KEY", srv.Key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			log.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}

	srv.Inject(e2btest.TooManyRequests("1"))
	fmt.Println(create(), len(srv.Sandboxes()))
	fmt.Println(create(), len(srv.Sandboxes()))
	// Output:
	// 429 0
	// 201 1
}
