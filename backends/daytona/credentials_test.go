package daytona_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
	"github.com/remote-box/remote/driver"
)

// bare empties the environment of everything by which a key is found, and returns the key file.
func bare(t *testing.T) (file string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"DAYTONA_API_KEY", "DAYTONA_JWT_TOKEN", "DAYTONA_ORGANIZATION_ID", "DAYTONA_API_URL", "DAYTONA_SERVER_URL", "DAYTONA_TARGET"} {
		t.Setenv(name, "") // restores it afterwards
		os.Unsetenv(name)
	}
	file = filepath.Join(home, ".config", "daytona", "api_key")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCredentials(t *testing.T) {
	for _, c := range []struct {
		name       string
		backend    daytona.Backend
		env        map[string]string
		file       string
		token, org string // what is sent
		fails      string // what the CredentialError says
		field      string
	}{
		{name: "field", backend: daytona.Backend{APIKey: "k1"}, env: map[string]string{"DAYTONA_API_KEY": "k2"}, file: "k3", token: "k1"},
		{name: "variable", env: map[string]string{"DAYTONA_API_KEY": "k2"}, file: "k3", token: "k2"},
		{name: "file", file: " k3\n", token: "k3"},
		{name: "nothing", fails: "missing", field: "daytona.Backend.APIKey"},
		{name: "a variable that is set to nothing", env: map[string]string{"DAYTONA_API_KEY": ""}, fails: "empty", field: "daytona.Backend.APIKey"},
		{name: "empty file", file: "\n", fails: "empty", field: "daytona.Backend.APIKey"},
		{name: "malformed", backend: daytona.Backend{APIKey: "k1\nk2"}, fails: "malformed", field: "daytona.Backend.APIKey"},
		{name: "JWT", backend: daytona.Backend{JWTToken: "j1", OrganizationID: "o1"}, token: "j1", org: "o1"},
		{name: "JWT by variables", env: map[string]string{"DAYTONA_JWT_TOKEN": "j2", "DAYTONA_ORGANIZATION_ID": "o2"}, file: "k3", token: "j2", org: "o2"},
		{name: "JWT without its organization", backend: daytona.Backend{JWTToken: "j1"}, fails: "incomplete", field: "daytona.Backend.OrganizationID"},
		{name: "a key needs no organization", backend: daytona.Backend{APIKey: "k1"}, env: map[string]string{"DAYTONA_ORGANIZATION_ID": "o2"}, token: "k1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := bare(t)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			if c.file != "" {
				if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			srv := daytonatest.New(t, daytonatest.Config{})
			t.Setenv("DAYTONA_API_URL", srv.APIURL())
			var token, org string
			srv.Inject(daytonatest.Fault{Times: -1, Match: func(r *http.Request) bool {
				token, org = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("X-Daytona-Organization-ID")
				return false
			}})
			_, err := c.backend.Images(t.Context())
			var e *remote.CredentialError
			if !errors.As(err, &e) {
				t.Fatalf("%v", err) // the server does not know any of these keys
			}
			if c.fails == "" && (token != c.token || org != c.org || !strings.Contains(e.Reason, "refused")) {
				t.Errorf("sent %q and %q, want %q and %q; %v", token, org, c.token, c.org, err)
			}
			if c.fails != "" && (!strings.Contains(e.Reason, c.fails) || e.Field != c.field || e.File != file || token != "") {
				t.Errorf("%#v after sending %q", e, token)
			}
		})
	}
}

func TestURLs(t *testing.T) {
	bare(t)
	for url, good := range map[string]bool{
		"http://127.0.0.1:1/api": true, "http://localhost:1": true, "http://[::1]:1/": true,
		"http://example.com/api": false, "ftp://127.0.0.1": false, "nonsense": false, "https://user:password@127.0.0.1": false,
	} {
		_, err := daytona.Backend{APIKey: "k", APIURL: url}.Images(t.Context())
		if refused := err != nil && strings.HasPrefix(err.Error(), "daytona: APIURL"); refused == good {
			t.Errorf("%s: %v", url, err)
		}
		if strings.Contains(fmt.Sprint(err), "password") {
			t.Errorf("a password is shown: %v", err)
		}
	}
}

// TestSecrets looks for the key in everything that is said: errors, logs, refs, names, values of
// any kind printed in any way.
func TestSecrets(t *testing.T) {
	const key = "dtn_0123456789abcdef-the-key"
	srv := isolated(t, daytonatest.Config{Key: key})
	b := on(srv)
	var said bytes.Buffer
	hear := func(what string, values ...any) {
		for _, v := range values {
			for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				fmt.Fprintf(&said, "%s: "+format+"\n", what, v)
			}
			j, err := json.Marshal(v)
			fmt.Fprintf(&said, "%s: %s %v\n", what, j, err)
			slog.New(slog.NewTextHandler(&said, nil)).Info(what, "value", v)
		}
	}
	hear("backend", b, &b, []daytona.Backend{b}, map[string]any{"b": b}, struct{ B any }{b})
	ctx := remote.WithBackend(t.Context(), b)
	s := remote.NewSession(b)
	defer s.Close(t.Context())
	if _, err := testfunc.Size.Call(s.Context(ctx), "x"); err != nil {
		t.Fatal(err)
	}
	ref, err := s.Ref()
	hear("ref", ref, err)
	images, err := b.Images(ctx)
	hear("images", images, err, b.Diagnose(ctx))
	img := image(t, b, program(t))
	var log bytes.Buffer
	hear("build", img.Name(), img.Parts(), img.Build(ctx, &log), log.String())
	for _, sb := range srv.Sandboxes() {
		hear("sandbox", sb.Name, sb.Labels, sb.Env)
	}
	env, err := testfunc.Shell.Call(s.Context(ctx), "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null; find / -xdev -newer /etc/hostname -size -1000k -type f 2>/dev/null | head -100 | xargs grep -l "+key+" 2>/dev/null; true")
	hear("in the sandbox", strings.ReplaceAll(env, "grep -l "+key, ""), err)

	// What a provider says back, in every kind of answer and of error. Commands, unlike calls, are not
	// asked about again and again.
	impatient := b
	impatient.CreateTimeout = time.Second
	sb := begun(t, impatient)
	echo := `{"message":"who is ` + key + `?","error":"` + key + `","code":"` + key + `"}`
	for _, f := range []daytonatest.Fault{
		{Status: 400, Body: echo},
		{Status: 401, Body: echo},
		{Status: 403, Body: "plain " + key},
		{Status: 404, Body: echo},
		{Status: 409, Body: echo},
		{Status: 429, Body: echo, RetryAfter: 60},
		{Status: 200, Body: "no JSON " + key},
		{Status: 500, Body: echo},
		{Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:1/" + key}}},
		{Reset: daytonatest.Before},
	} {
		f.Times = -1
		for _, path := range []string{"/api/sandbox", "/process/session", "/logs", "/input", "/snapshots", "/object-storage", "/daytona-volume-builds"} {
			f.Path = path
			in := srv.Inject(f)
			b := b
			b.CreateTimeout = time.Second
			b.SnapshotName = "other"
			limited, cancel := context.WithTimeout(ctx, 5*time.Second) // an answer may be a lie: nothing runs
			_, err := sb.Exec(limited, &driver.Command{Args: []string{"true"}})
			hear("command "+path, err)
			cancel()
			if path != "/input" && path != "/logs" {
				sb, err := b.Attach(ctx, ref.Sandbox, driver.Spec{})
				hear("attach "+path, err)
				_ = sb
				hear("build "+path, image(t, b, program(t)).Build(ctx, io.Discard))
			}
			in.Remove()
		}
	}
	for n, line := range strings.Split(said.String(), "\n") {
		if strings.Contains(line, key) || strings.Contains(line, fmt.Sprintf("%x", key)) {
			t.Errorf("line %d shows the key: %s", n, line)
		}
	}
	if !strings.Contains(said.String(), "********") {
		t.Error("nothing was masked: the test hears nothing")
	}
}
