//go:build linux && !remotebox_runner

package e2b_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// agentOf is the address of a sandbox's agent without a proxy that wants to know which one is meant,
// as one on this host would have.
func agentOf(t *testing.T, srv *e2btest.Server, id string) string {
	t.Helper()
	target, err := url.Parse(srv.SandboxURL())
	if err != nil {
		t.Fatal(err)
	}
	token := tokenFor(t, srv, id)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("E2b-Sandbox-Id", id)
			r.Out.Header.Set("X-Access-Token", token)
		},
		FlushInterval: -1,
		Transport:     &http.Transport{DisableKeepAlives: true},
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// tokenFor asks the control plane for a sandbox's token.
func tokenFor(t *testing.T, srv *e2btest.Server, id string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.APIURL()+"/sandboxes/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", srv.Key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var a struct {
		Token string `json:"envdAccessToken"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || a.Token == "" {
		t.Fatalf("no token: %v", err)
	}
	return a.Token
}
