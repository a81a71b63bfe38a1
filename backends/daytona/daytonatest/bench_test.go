//go:build unix && !remotebox_runner

package daytonatest

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func benchPost(b *testing.B, srv *Server, url, body string) {
	b.Helper()
	req, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+srv.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		b.Fatal(res.Status)
	}
}

// What a test pays for a server.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		srv, err := Start(Config{})
		if err != nil {
			b.Fatal(err)
		}
		srv.Close()
	}
}

// What it pays for a sandbox, the configured time of creation apart.
func BenchmarkCreate(b *testing.B) {
	srv := New(b, Config{Times: Times{Create: time.Nanosecond}})
	for b.Loop() {
		benchPost(b, srv, srv.APIURL()+"/sandbox", "{}")
	}
}

func BenchmarkExecute(b *testing.B) {
	srv := New(b, Config{})
	benchPost(b, srv, srv.APIURL()+"/sandbox", "{}")
	url := srv.ToolboxURL() + "/" + srv.Sandboxes()[0].ID + "/process/execute"
	for b.Loop() {
		benchPost(b, srv, url, `{"command":"true"}`)
	}
}
