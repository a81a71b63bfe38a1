//go:build linux && !remotebox_runner

package daytonatest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/remote-box/remote/backends/daytona/daytonatest"
)

func Example() {
	srv, err := daytonatest.Start(daytonatest.Config{}) // in a test: daytonatest.New(t, …)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()

	post := func(url, body string, answer any) error {
		req, err := http.NewRequest("POST", url, strings.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+srv.Key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		return json.NewDecoder(res.Body).Decode(answer)
	}
	var sandbox struct{ ID, ToolboxProxyURL string }
	if err := post(srv.APIURL()+"/sandbox", `{"labels": {"owner": "me"}}`, &sandbox); err != nil {
		fmt.Println(err)
		return
	}
	var done struct {
		ExitCode int
		Result   string
	}
	if err := post(sandbox.ToolboxProxyURL+"/"+sandbox.ID+"/process/execute", `{"command": "echo hello from the sandbox"}`, &done); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(done.ExitCode, " ", done.Result)
	for _, sb := range srv.Sandboxes() {
		fmt.Println(sb.State, sb.Labels["owner"])
	}
	// Output:
	// 0 hello from the sandbox
	// started me
}
