//go:build linux && !remotebox_runner

package e2b_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/needs"
)

func confined(t *testing.T, srv *e2btest.Server) {
	t.Helper()
	if srv.Isolation() != "namespaces" {
		needs.Missing(t, "a sandbox is %s here; name spaces take root on Linux", srv.Isolation())
	}
}

// TestDockerfile builds a template of a Dockerfile with everything in it, and looks at what a
// function finds.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	srv := e2btest.New(t, e2btest.Config{})
	confined(t, srv)
	b := on(srv)
	b.Dockerfile = "backends/e2b/testdata/full.Dockerfile"
	want := map[string]string{
		"/srv/app/a.txt":                 "-rw-r----- a\n",
		"/srv/app/b.txt":                 "-rw-r----- b\n",
		"/srv/app/copied/deep/c.txt":     "-rw-r--r-- deep\n",
		"/srv/app/copied/tool.sh":        "-rwxr-xr-x #!/bin/sh\necho tool\n",
		"/srv/named file.txt":            "-rw-r--r-- a\n",
		"/srv/app/several/c.txt":         "-rw-r--r-- deep\n",
		"/srv/app/several/link":          "-rw-r--r-- a\n",
		"/srv/docs/EOF":                  "-rw-r--r-- greeting=hello world\n",
		"/srv/docs/RAW":                  "-rw-r--r-- raw=$GREETING\n",
		"/srv/app/run.txt":               "-rw-r--r-- hello world amd64\n",
		"/srv/app/exec.txt":              "-rw-r--r-- exec it's\n",
		"/srv/app/heredoc.txt":           "-rw-r--r-- first\nsecond\n",
		"/srv/app/one.txt":               "-rw-r--r-- /srv/app\n",
		"/srv/app/shebang.txt":           "-rw-r--r-- shebang\n",
		"/srv/app/shell.txt":             "-rw-r--r-- bash\n",
		"/home/user/who.txt":             "-rw-r--r-- user\n",
		"/srv/app/copied/deep/none.txt":  "error: ",
		"/srv/app/backends/e2b/none.txt": "error: ",
	}
	var files []string
	for name := range want {
		files = append(files, name)
	}
	got, err := testfunc.Look.Call(remote.WithBackend(t.Context(), b), files)
	if err != nil {
		t.Fatalf("%v\n%v", err, b.BuildLog)
	}
	for name, text := range want {
		if text == "error: " && strings.HasPrefix(got.Files[name], text) {
			continue
		}
		if got.Files[name] != text {
			t.Errorf("%s is %q, not %q", name, got.Files[name], text)
		}
	}
	if got.User != "user" || got.Dir != "/srv/app" {
		t.Errorf("the function runs as %s in %s", got.User, got.Dir)
	}
	for name, value := range map[string]string{"APP_HOME": "/srv/app", "QUOTED": "two words", "DOLLAR": "$HOME costs $5", "OLD": "style with spaces"} {
		if got.Env[name] != value {
			t.Errorf("%s is %q, not %q", name, got.Env[name], value)
		}
	}
	if !strings.HasPrefix(got.Path, "/srv/more:/srv/bin:/") {
		t.Errorf("PATH is %s", got.Path)
	}
	if v, ok := got.Env["GREETING"]; ok {
		t.Errorf("an ARG has become a variable of the image: %s", v)
	}
	log := b.BuildLog.(*log).String()
	for _, want := range []string{"warning: ", "ENTRYPOINT does not run", "RUN [echo \"$GREETING $TARGETARCH\" > run.txt"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
	none(t, srv)
}

// TestBuildFails checks that a failing step is told by its line, and that what can't be built is
// told before anything is sent.
func TestBuildFails(t *testing.T) {
	t.Parallel()
	srv := e2btest.New(t, e2btest.Config{})
	b := on(srv)
	b.Dockerfile = "backends/e2b/testdata/failing.Dockerfile"
	_, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x")
	var failed *remote.BuildError
	if !errors.As(err, &failed) {
		t.Fatalf("%T %v", err, err)
	}
	if failed.Line != 4 || failed.What != b.Dockerfile || !strings.Contains(failed.Log, "out of luck") || !strings.Contains(failed.Error(), "exit status 3") {
		t.Errorf("%#v", failed)
	}

	srv.ResetRequests()
	b.Dockerfile = "backends/e2b/testdata/stages.Dockerfile"
	_, err = testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x")
	if !errors.As(err, &failed) || failed.Line != 3 {
		t.Fatalf("%T %v", err, err)
	}
	for _, r := range requests(srv) {
		if strings.Contains(r, "/v3/templates") {
			t.Errorf("a build was begun: %s", r)
		}
	}
}

// TestStepless checks that a build which fails without a step's fault is begun again, but not for
// ever, and that the last failure is told.
func TestStepless(t *testing.T) {
	t.Parallel()
	srv := e2btest.New(t, e2btest.Config{})
	inject := func(path string, status int, body string) {
		srv.Inject(e2btest.Fault{
			Method: http.MethodGet, Path: path, Status: status, Body: body, Times: -1,
			Header: http.Header{"Content-Type": {"application/json"}},
		})
	}
	inject("/templates/*/builds/*/status", http.StatusOK, `{"status":"error","logEntries":[],"reason":{"message":"trouble of its own"}}`)
	inject("/templates/aliases/*", http.StatusNotFound, `{"code":404,"message":"not found"}`)
	inject("/templates/*", http.StatusOK, `{"builds":[]}`)
	_, err := testfunc.Size.Call(remote.WithBackend(t.Context(), on(srv)), "x")
	var failed *remote.BuildError
	if !errors.As(err, &failed) || !strings.Contains(failed.Error(), "trouble of its own") {
		t.Fatalf("%T %v", err, err)
	}
	begun := 0
	for _, r := range requests(srv) {
		if strings.Contains(r, "POST /v3/templates") {
			begun++
		}
	}
	if begun != 3 {
		t.Errorf("%d builds were begun: %q", begun, requests(srv))
	}
}

// programOf is the program of the functions.
func programOf(t *testing.T) driver.Program {
	t.Helper()
	g := &taker{}
	testfunc.Size.Call(remote.WithBackend(t.Context(), g), "x")
	if g.spec.Program == nil {
		t.Fatal("there is no program")
	}
	return g.spec.Program
}

// taker is a backend that only takes what it is given.
type taker struct{ spec driver.Spec }

func (*taker) Name() string { return "taker" }

func (k *taker) Start(_ context.Context, spec driver.Spec) (driver.Sandbox, error) {
	k.spec = spec
	return nil, errors.New("taken")
}

func (k *taker) Attach(context.Context, string, driver.Spec) (driver.Sandbox, error) {
	return nil, errors.New("taken")
}

// TestBuildersAgree has one template built by many at once.
func TestBuildersAgree(t *testing.T) {
	t.Parallel()
	srv := e2btest.New(t, e2btest.Config{MaxBuilds: -1})
	var wg sync.WaitGroup
	program := programOf(t)
	for range 8 {
		wg.Go(func() {
			img, err := on(srv).Image(t.Context(), program)
			if err != nil {
				t.Error(err)
				return
			}
			log := &log{}
			if err := img.Build(t.Context(), log); err != nil {
				t.Errorf("%v\n%s", err, log)
			}
			if ready, err := img.Ready(t.Context()); err != nil || !ready {
				t.Errorf("after a build: %v, %v", ready, err)
			}
		})
	}
	wg.Wait()
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), on(srv)), "x"); err != nil {
		t.Error(err)
	}
}

// TestMissing checks that nothing is built where that is not allowed, and that a template that is
// given by name is used as it is.
func TestMissing(t *testing.T) {
	_, built := serve(t, e2btest.Config{})
	b := built
	b.AutoBuild, b.CPUs = new(false), 2
	var m *remote.MissingImageError
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); !errors.As(err, &m) {
		t.Errorf("%v", err)
	}
	b.Template = "nosuchtemplate"
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); !errors.As(err, &m) || m.Image != b.Template {
		t.Errorf("%v", err)
	}
	img, err := built.Image(t.Context(), programOf(t))
	if err != nil {
		t.Fatal(err)
	}
	b.Template = img.Name()
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err != nil {
		t.Error(err)
	}
}

// TestName checks what decides a template's name, and what does not.
func TestName(t *testing.T) {
	t.Setenv("E2B_API_KEY", "k")
	program := programOf(t)
	name := func(b e2b.Backend) string {
		img, err := b.Image(t.Context(), program)
		if err != nil {
			t.Fatal(err)
		}
		return img.Name()
	}
	base := name(e2b.Backend{})
	if !strings.HasPrefix(base, "remote-box-") {
		t.Errorf("%s", base)
	}
	for what, b := range map[string]e2b.Backend{
		"env": {Env: map[string]string{"A": "B"}}, "ttl": {TTL: 1e9}, "key": {APIKey: "x"}, "metadata": {Metadata: map[string]string{"a": "b"}},
		"network": {Network: e2b.Network{Rules: map[string]e2b.Rule{"a.b": e2b.InjectHeaders(map[string]string{"A": "b"})}}}, "post": {PostCreateCmd: "x"},
		"registry": {Registry: e2b.Registry{Username: "u", Password: "p"}}, "public": {AllowPublicTraffic: true},
	} {
		if got := name(b); got != base {
			t.Errorf("%s changes the name to %s", what, got)
		}
	}
	seen := map[string]string{base: "nothing"}
	for what, b := range map[string]e2b.Backend{
		"cpus": {CPUs: 2}, "memory": {MemoryMB: 512}, "start": {StartCmd: "x"}, "ready": {ReadyCmd: "x"}, "base": {BaseImage: "debian"},
		"template": {BaseTemplate: "base"}, "dockerfile": {Dockerfile: "backends/e2b/testdata/full.Dockerfile"}, "prefix": {TemplatePrefix: "other"},
	} {
		got := name(b)
		if old, ok := seen[got]; ok {
			t.Errorf("%s gives the name of %s, %s", what, old, got)
		}
		seen[got] = what
	}
}

// TestDockerfileCorners builds what a careless translation, or a stand-in that is kinder than E2B, gets
// wrong.
func TestDockerfileCorners(t *testing.T) {
	t.Parallel()
	srv := e2btest.New(t, e2btest.Config{})
	confined(t, srv)
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"a variable called p", "ENV p=hello\nRUN echo \"[$p]\" > /out", "[hello]\n"},
		{"PATH if it is set", "ENV PATH=/srv/bin${PATH:+:$PATH}\nRUN ls / > /dev/null && echo yes > /out", "yes\n"},
		{"an argument without a value", "ARG X\nRUN echo \"${X-unset}\" > /out", "unset\n"},
		{"backslashes", "ENV A='x\\\\\\\\y' B='end\\'\nRUN printf '%s|%s' \"$A\" \"$B\" > /out", "x\\\\\\\\y|end\\"},
		{"the owner of new directories", "COPY --chown=user backends/e2b/testdata/context/sub /new/dir\nRUN stat -c %U:%G /new /new/dir /new/dir/tool.sh > /out", "user:user\nuser:user\nuser:user\n"},
		{"the owner of a file's directory", "COPY --chown=user backends/e2b/testdata/context/a.txt /new/a\nRUN stat -c %U /new /new/a > /out", "user\nuser\n"},
		{"the owner of an old directory", "COPY --chown=user backends/e2b/testdata/context/sub /srv\nRUN stat -c %U /srv /srv/tool.sh > /out", "root\nuser\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := on(srv)
			b.Dockerfile = filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-"))
			for name, text := range map[string]string{
				b.Dockerfile: "FROM debian\n" + c.text + "\n", b.Dockerfile + ".dockerignore": "*\n!backends/e2b/testdata/context\n",
			} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := testfunc.Look.Call(remote.WithBackend(t.Context(), b), []string{"/out"})
			if err != nil || got.Files["/out"] != "-rw-r--r-- "+c.want {
				t.Errorf("%s\nleft %q, not %q (%v)", c.text, got.Files["/out"], c.want, err)
			}
		})
	}
}
