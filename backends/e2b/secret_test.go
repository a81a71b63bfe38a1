//go:build linux && !remotebox_runner

package e2b_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
)

// secrets are what nothing may show.
var secrets = []string{"the-api-key-1", "header-value-2", "registry-pass-3", "aws-secret-4", "gcp-json-5"}

// leaks fails if text holds a secret.
func leaks(t *testing.T, what, text string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("%s shows %s: %s", what, s, text)
		}
	}
}

// shown is everything that can be made of a value by printing it.
func shown(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10v", "%t"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}
	j, err := json.Marshal(v)
	if err == nil {
		b.Write(j)
	}
	for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
		slog.New(h).Info("x", "v", v)
	}
	return b.String()
}

func secretBackend(srv *e2btest.Server) e2b.Backend {
	b := on(srv)
	b.Network = e2b.Network{
		DenyOut: []string{e2b.AllTraffic}, AllowOut: []string{"api.example.com"},
		Rules: map[string]e2b.Rule{"api.example.com": e2b.InjectHeaders(map[string]string{"Authorization": secrets[1]})},
	}
	return b
}

func TestSecretsDoNotPrint(t *testing.T) {
	b := secretBackend(e2btest.New(t, e2btest.Config{Key: secrets[0]}))
	b.BuildLog = nil
	registries := []e2b.Registry{
		{Username: "u", Password: e2b.Secret(secrets[2])},
		{AWSAccessKeyID: "id", AWSSecretAccessKey: e2b.Secret(secrets[3]), AWSRegion: "r"},
		{GCPServiceAccount: e2b.Secret(secrets[4])},
	}
	for _, r := range registries {
		b.Registry = r
		for _, v := range []any{b, &b, b.APIKey, &b.APIKey, b.Network, b.Registry, map[string]any{"b": b}, []any{b}, struct{ B any }{b}} {
			leaks(t, fmt.Sprintf("printing a %T", v), shown(t, v))
		}
	}
	leaks(t, "printing a session", shown(t, remote.NewSession(b)))
	leaks(t, "printing a function", shown(t, testfunc.Size)+shown(t, &testfunc.Size))
	if text := shown(t, b); !strings.Contains(text, "********") {
		t.Errorf("there is no sign that there is a key: %s", text)
	}
}

// TestSecretsStayHere makes all that can go wrong go wrong, with servers that repeat what they were
// sent, and looks for secrets in errors, logs, refs, names, metadata and what functions see.
func TestSecretsStayHere(t *testing.T) {
	t.Parallel()
	srv := e2btest.New(t, e2btest.Config{Key: secrets[0]})
	b := secretBackend(srv)
	b.Registry = e2b.Registry{Username: "u", Password: e2b.Secret(secrets[2])}
	s := remote.NewSession(b)
	defer s.Close(t.Context())
	ctx := s.Context(t.Context())
	got, err := testfunc.Look.Call(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	leaks(t, "what a function sees", fmt.Sprint(got))
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal(ref)
	if err != nil {
		t.Fatal(err)
	}
	leaks(t, "a ref", string(j))
	leaks(t, "a template's name", ref.Image)
	img, err := b.Image(t.Context(), programOf(t))
	if err != nil {
		t.Fatal(err)
	}
	leaks(t, "what a name is made of", fmt.Sprint(img.Parts()))
	leaks(t, "metadata", fmt.Sprint(srv.Sandboxes()))
	leaks(t, "the build's log", b.BuildLog.(*log).String())

	echo := strings.Join(secrets[:3], " ") // those that this backend value holds
	for _, f := range []e2btest.Fault{
		{Plane: e2btest.PlaneAPI, Times: -1, Status: 400, Body: `{"code":400,"message":"` + echo + `"}`},
		{Plane: e2btest.PlaneAPI, Times: -1, Status: 418, Body: echo},
		{Plane: e2btest.PlaneAPI, Times: -1, Status: 401, Body: `{"code":401,"message":"bad key ` + secrets[0] + `"}`},
		{Plane: e2btest.PlaneAPI, Times: -1, Status: 429, Body: echo},
		{Plane: e2btest.PlaneAPI, Times: -1, Status: 201, Body: echo},
	} {
		fault := srv.Inject(f)
		shownBy := secretBackend(srv)
		shownBy.Registry = b.Registry
		_, err := testfunc.Size.Call(remote.WithBackend(t.Context(), shownBy), "x")
		if err == nil {
			t.Errorf("%+v: no error", f)
		}
		leaks(t, "an error", shown(t, err))
		for e := err; e != nil; e = errors.Unwrap(e) {
			leaks(t, "a cause", shown(t, e))
		}
		img, err := shownBy.Image(t.Context(), programOf(t))
		if err != nil {
			t.Fatal(err)
		}
		leaks(t, "a build's error", shown(t, img.Build(t.Context(), &log{})))
		fault.Remove()
	}
	// What E2B says of a build that fails repeats what a registry says.
	srv.Inject(e2btest.Fault{
		Path: "/templates/*/builds/*/status", Status: 200,
		Body: `{"status":"building","logEntries":[{"message":"pulling https://u:` + secrets[2] + `@reg"}]}`,
	})
	fault := srv.Inject(e2btest.Fault{
		Path: "/templates/*/builds/*/status", Times: -1, Status: 200,
		Body: `{"status":"error","logEntries":[],"reason":{"step":"base","message":"GET https://u:` + secrets[2] + `@reg/v2: denied"}}`,
	})
	absent := srv.Inject(e2btest.Fault{Path: "/templates/aliases/*", Times: -1, Status: 404, Body: `{"code":404,"message":"not found"}`})
	failing := b
	failing.CPUs, failing.BuildLog = 2, &log{}
	_, err = testfunc.Size.Call(remote.WithBackend(t.Context(), failing), "x")
	if err == nil || !strings.Contains(err.Error(), "denied") {
		t.Errorf("a build that fails: %v", err)
	}
	leaks(t, "a build's error", shown(t, err))
	leaks(t, "a build's log", failing.BuildLog.(*log).String())
	fault.Remove()
	absent.Remove()
	cut := srv.Inject(e2btest.Fault{Plane: e2btest.PlaneAPI, Times: -1, Reset: e2btest.ResetBefore})
	_, err = testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x")
	leaks(t, "an error", shown(t, err))
	cut.Remove()
	fault = srv.Inject(e2btest.Fault{Plane: e2btest.PlaneSandbox, Times: -1, Status: 500, Body: echo + tokenOf(srv)})
	_, err = testfunc.Size.Call(ctx, "x")
	if err == nil || strings.Contains(err.Error(), tokenOf(srv)) {
		t.Errorf("the sandbox's token: %v", err)
	}
	fault.Remove()
}

// tokenOf is the token that the requests to a sandbox carry.
func tokenOf(srv *e2btest.Server) string {
	for _, r := range srv.Requests() {
		if token := r.Header.Get("X-Access-Token"); token != "" {
			return token
		}
	}
	return "no token"
}
