//go:build linux && !remotebox_runner

package e2b_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
)

// TestKey checks where a key is looked for, and that none is an error that says so.
func TestKey(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("E2B_API_KEY", "")
	call := func(b e2b.Backend) error {
		_, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x")
		return err
	}
	b.APIKey = ""
	// The template is found by name: without a home there is no cache to build it in.
	img, err := on(srv).Image(t.Context(), programOf(t))
	if err != nil {
		t.Fatal(err)
	}
	b.Template = img.Name()
	var c *remote.CredentialError
	if err := call(b); !errors.As(err, &c) || c.Reason != "empty" {
		t.Fatalf("a variable that is set to nothing: %v", err)
	}
	os.Unsetenv("E2B_API_KEY") // t.Setenv above restores it
	err = call(b)
	if !errors.As(err, &c) || c.Reason != "missing" {
		t.Fatalf("%v", err)
	}
	for _, place := range []string{"APIKey", "E2B_API_KEY", ".config/e2b/api_key"} {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("%q does not name %s", err, place)
		}
	}
	if n := len(srv.Sandboxes()); n != 0 {
		t.Errorf("%d sandboxes", n)
	}

	file := filepath.Join(home, ".config", "e2b", "api_key")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("\n")
	if err := call(b); !errors.As(err, &c) || c.Reason != "empty" {
		t.Errorf("an empty file: %v", err)
	}
	write(srv.Key + "\n")
	if err := call(b); err != nil {
		t.Errorf("by file: %v", err)
	}
	t.Setenv("E2B_API_KEY", "another")
	if err := call(b); !errors.As(err, &c) || !strings.Contains(c.Reason, "refused") {
		t.Errorf("the variable does not win over the file: %v", err)
	}
	b.APIKey = e2b.Secret(srv.Key)
	if err := call(b); err != nil {
		t.Errorf("the field does not win over the variable: %v", err)
	}
}

// TestVariables checks that a program without any setting finds a server by E2B's variables.
func TestVariables(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	t.Setenv("E2B_API_KEY", srv.Key)
	t.Setenv("E2B_API_URL", srv.APIURL()+"/")
	t.Setenv("E2B_SANDBOX_URL", srv.SandboxURL())
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), e2b.Backend{BuildLog: b.BuildLog}), "x"); err != nil {
		t.Error(err)
	}
}

// TestDebug checks that E2B_DEBUG, as in E2B's SDKs, does without a control plane.
func TestDebug(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	_, id := session(t, b)
	agent := agentOf(t, srv, id)
	srv.ResetRequests()
	t.Setenv("E2B_DEBUG", "True")
	t.Setenv("E2B_API_KEY", "")
	t.Setenv("E2B_SANDBOX_URL", agent)
	d := e2b.Backend{Env: map[string]string{"GIVEN": "yes"}}
	got, err := testfunc.Look.Call(remote.WithBackend(t.Context(), d), nil)
	if err != nil || got.Env["GIVEN"] != "yes" {
		t.Errorf("%v, %v", got.Env, err)
	}
	for _, r := range srv.Requests() {
		if r.Plane == e2btest.PlaneAPI {
			t.Errorf("the control plane was asked: %s %s", r.Method, r.Path)
		}
	}
}

// TestChecks checks that mistakes are found before anything is sent.
func TestChecks(t *testing.T) {
	srv := e2btest.New(t, e2btest.Config{})
	rules := func(domain string, headers map[string]string) e2b.Network {
		return e2b.Network{Rules: map[string]e2b.Rule{domain: e2b.InjectHeaders(headers)}}
	}
	many := map[string]string{}
	for i := range 21 {
		many[fmt.Sprint("h", i)] = "v"
	}
	domains := e2b.Network{Rules: map[string]e2b.Rule{}}
	for i := range 11 {
		domains.Rules[fmt.Sprint("d", i)] = e2b.InjectHeaders(map[string]string{"a": "b"})
	}
	for _, c := range []struct {
		b    e2b.Backend
		says string
	}{
		{e2b.Backend{TemplatePrefix: "my project"}, "TemplatePrefix"},
		{e2b.Backend{TemplatePrefix: strings.Repeat("x", 120)}, "too long"},
		{e2b.Backend{Template: "no!"}, "Template"},
		{e2b.Backend{CPUs: 3}, "CPUs"},
		{e2b.Backend{MemoryMB: 129}, "MemoryMB"},
		{e2b.Backend{TTL: time.Millisecond}, "TTL"},
		{e2b.Backend{TTL: 25 * time.Hour}, "e2b.Backend.TTL is 25h0m0s"},
		{e2b.Backend{APIURL: "127.0.0.1:3000"}, `e2b.Backend.APIURL (or E2B_API_URL) is "127.0.0.1:3000", without a scheme; write "https://127.0.0.1:3000"`},
		{e2b.Backend{APIURL: "localhost:3000"}, `without a scheme; write "https://localhost:3000"`},
		{e2b.Backend{APIURL: "ftp://localhost"}, "APIURL"},
		{e2b.Backend{APIURL: "http://"}, "APIURL"},
		{e2b.Backend{SandboxURL: "localhost:3002"}, "SandboxURL"},
		{e2b.Backend{Domain: "https://e2b.app"}, "Domain"},
		{e2b.Backend{APIKey: "k\nX-Other: y"}, "malformed"},
		{e2b.Backend{Dockerfile: "x", BaseImage: "y"}, "only one"},
		{e2b.Backend{BaseTemplate: "x", BaseImage: "y"}, "only one"},
		{e2b.Backend{Env: map[string]string{"A=B": ""}}, "Env"},
		{e2b.Backend{Registry: e2b.Registry{Username: "x"}}, "Registry"},
		{e2b.Backend{Registry: e2b.Registry{AWSRegion: "x"}}, "Registry"},
		{e2b.Backend{Registry: e2b.Registry{Username: "x", Password: "y", AWSRegion: "x"}}, "more than one"},
		{e2b.Backend{Network: e2b.Network{DenyOut: []string{"example.com"}}}, "DenyOut"},
		{e2b.Backend{Network: e2b.Network{AllowOut: []string{"example.com"}}}, "AllTraffic"},
		{e2b.Backend{Network: e2b.Network{AllowOut: []string{"https://example.com"}, DenyOut: []string{e2b.AllTraffic}}}, "AllowOut"},
		{e2b.Backend{Network: domains}, "11"},
		{e2b.Backend{Network: rules("a.b", many)}, "21"},
		{e2b.Backend{Network: rules("a.b", nil)}, "nothing"},
		{e2b.Backend{Network: rules(strings.Repeat("d", 129), map[string]string{"a": "b"})}, "128"},
		{e2b.Backend{Network: rules("a.b", map[string]string{strings.Repeat("n", 65): "v"})}, "64"},
		{e2b.Backend{Network: rules("a.b", map[string]string{"a b": "v"})}, "no name"},
		{e2b.Backend{Network: rules("a.b", map[string]string{"a": strings.Repeat("v", 2049)})}, "2048"},
		{e2b.Backend{Network: rules("a.b", map[string]string{"a": "v\r\nx: y"})}, "none that a header"},
	} {
		c.b.APIKey = cmp.Or(c.b.APIKey, e2b.Secret(srv.Key))
		c.b.APIURL, c.b.SandboxURL = cmp.Or(c.b.APIURL, srv.APIURL()), cmp.Or(c.b.SandboxURL, srv.SandboxURL())
		if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), c.b), "x"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("not %q: %v", c.says, err)
		}
	}
	if got := requests(srv); len(got) > 0 {
		t.Errorf("requests were sent: %v", got)
	}
	var refused *remote.CredentialError
	_, err := testfunc.Size.Call(remote.WithBackend(t.Context(), e2b.Backend{APIKey: "k\ny", APIURL: srv.APIURL()}), "x")
	if !errors.As(err, &refused) || strings.Contains(err.Error(), "k\ny") {
		t.Errorf("a malformed key: %v", err)
	}
}
