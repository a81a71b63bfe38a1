package daytona_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
	"github.com/remote-box/remote/driver"
)

// project is a driver.Program with sources of its own around the runner of this module.
type project struct {
	driver.Program
	root string
}

func (p project) Root() (string, error) { return p.root, nil }

// program makes a project of files, name and content in turn.
func program(t *testing.T, files ...string) project {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(root, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var spec driver.Spec
	s := remote.NewSession(specTaker{daytona.Backend{}, &spec})
	if err := s.Start(t.Context()); !errors.Is(err, errTaken) {
		t.Fatal(err)
	}
	return project{spec.Program, root}
}

var errTaken = errors.New("taken")

type specTaker struct {
	driver.Backend
	spec *driver.Spec
}

func (s specTaker) Start(_ context.Context, spec driver.Spec) (driver.Sandbox, error) {
	*s.spec = spec
	return nil, errTaken
}

// output runs a shell script in a sandbox of the program.
func output(t *testing.T, b daytona.Backend, p driver.Program, script string) string {
	t.Helper()
	sb, err := b.Start(t.Context(), driver.Spec{Program: p, Once: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close(context.WithoutCancel(t.Context()))
	var out bytes.Buffer
	st, err := sb.Exec(t.Context(), &driver.Command{Args: []string{"sh", "-c", script}, Stdout: &out, Stderr: &out})
	if err != nil || st.Code != 0 {
		t.Errorf("%s: %+v, %v: %s", script, st, err, &out)
	}
	return out.String()
}

func TestDockerfile(t *testing.T) {
	srv := isolated(t, daytonatest.Config{})
	b := on(srv)
	b.Dockerfile, b.SnapshotName = "Dockerfile", "team/project"
	p := program(t,
		"Dockerfile", "FROM debian:12\nENV COLOUR=blue\nWORKDIR /srv/app\nCOPY . .\nENTRYPOINT [\"touch\", \"/tmp/entrypoint-ran\"]\n",
		".dockerignore", "ignored\n", "a.txt", "one", "ignored/b", "two", ".env", "KEY=secret", "dir/c", "three")
	for link, to := range map[string]string{"link": "a.txt", "dir/up": "../dir2", "dir2/x/y": "../../a.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(p.root, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(p.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	got := output(t, b, p, `pwd; echo "$COLOUR"; find . -type f | LC_ALL=C sort; cat link dir/up/x/y; ls /tmp/entrypoint-ran 2>/dev/null; true`)
	want := "/srv/app\nblue\n./.dockerignore\n./.remote-box/runner\n./Dockerfile\n./a.txt\n./dir/c\n./dir/up/x/y\n./dir2/x/y\n./link\noneone"
	if got != want {
		t.Errorf("the sandbox says\n%s\nnot\n%s", got, want)
	}
	names, err := b.Images(t.Context())
	if err != nil || len(names) != 1 || !strings.HasPrefix(names[0].Name, "team/project-") || !strings.HasSuffix(names[0].Name, "-container") {
		t.Fatalf("snapshots: %+v, %v", names, err)
	}

	// What is there is not uploaded again; what has changed has another name.
	uploads := srv.Count("PUT")
	if err := os.WriteFile(filepath.Join(p.root, "a.txt"), []byte("uno"), 0o644); err != nil {
		t.Fatal(err)
	}
	if img := image(t, b, p); img.Name() == names[0].Name {
		t.Error("another context has the same name")
	} else if err := img.Build(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	if n := srv.Count("PUT") - uploads; n != 1 {
		t.Errorf("%d archives were uploaded for one changed file", n)
	}
	if err := b.RemoveImage(t.Context(), names[0].Name); err != nil {
		t.Error(err)
	}
	if err := b.RemoveImage(t.Context(), "daytona-small"); err == nil {
		t.Error("a snapshot of Daytona's own could be removed")
	}
}

func image(t *testing.T, b daytona.Backend, p driver.Program) driver.Image {
	t.Helper()
	img, err := b.Image(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestFailedBuild(t *testing.T) {
	srv := isolated(t, daytonatest.Config{})
	b := on(srv)
	b.Dockerfile = "Dockerfile"
	p := program(t, "Dockerfile", "# a comment\nFROM debian:12\nRUN echo one && \\\n    # another\n    echo two\nRUN echo last words; exit 3\n")
	img := image(t, b, p)
	for range 2 { // the second one has to remove what the first one left
		var log bytes.Buffer
		err := img.Build(t.Context(), &log)
		var failed *remote.BuildError
		if !errors.As(err, &failed) || failed.Line != 6 || !strings.Contains(failed.Log, "last words") || !strings.Contains(failed.Err.Error(), "non-zero code: 3") {
			t.Fatalf("%#v, %v", failed, err)
		}
		if strings.ContainsRune(failed.Log, '\x1b') || !strings.Contains(log.String(), "last words") {
			t.Errorf("the log: %q", &log)
		}
	}
}

// TestLinks builds contexts with symlinks that can't be copied.
func TestLinks(t *testing.T) {
	srv := isolated(t, daytonatest.Config{})
	b := on(srv)
	b.Dockerfile = "Dockerfile"
	p := program(t, "Dockerfile", "FROM debian:12\nWORKDIR /ctx\nCOPY . .\n", ".dockerignore", "ignored\n", "ignored/x", "x", ".env", "KEY=secret", "a/b/f", "f", "g", "g")
	left := map[string]string{"dangling": "nothing", "absolute": "/etc/passwd", "outside": "../x", "to-ignored": "ignored/x", "to-secret": ".env", "itself": "itself"}
	for link, to := range left {
		if err := os.Symlink(to, filepath.Join(p.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"good": "a/b/f", "dir": "a/b", "through": "dir/../../g"} {
		if err := os.Symlink(to, filepath.Join(p.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	img := image(t, b, p)
	var log strings.Builder
	if err := img.Build(t.Context(), &log); err != nil {
		t.Fatal(err)
	}
	for link := range left {
		if !strings.Contains(log.String(), "left out of the build context: the symlink "+link+": ") {
			t.Errorf("the log does not name %s:\n%s", link, &log)
		}
	}
	if got := output(t, b, p, "find . -type f | LC_ALL=C sort; cat good dir/f through"); got != "./.dockerignore\n./.remote-box/runner\n./Dockerfile\n./a/b/f\n./dir/f\n./g\n./good\n./through\nffg" {
		t.Errorf("the sandbox has\n%s", got)
	}
	// Where a link points to is in the name, whether it is copied or not.
	for _, change := range []func() error{
		func() error { return os.Remove(filepath.Join(p.root, "dangling")) },
		func() error { return os.Symlink("elsewhere", filepath.Join(p.root, "dangling")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
	if image(t, b, p).Name() == img.Name() {
		t.Error("another link has the same name")
	}
	for _, link := range []string{"a/b/up", "a/m"} {
		if err := os.Symlink("..", filepath.Join(p.root, link)); err != nil {
			t.Fatal(err)
		}
	}
	err := image(t, b, p).Build(t.Context(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), ".dockerignore") || !strings.Contains(err.Error(), "the symlink a/") || len(err.Error()) > 250 {
		t.Errorf("a circle: %v", err)
	}
}

// TestBadDockerfile builds what is no Dockerfile: nothing is sent.
func TestBadDockerfile(t *testing.T) {
	srv := isolated(t, daytonatest.Config{})
	b := on(srv)
	b.Dockerfile = "Dockerfile"
	for _, c := range []struct {
		text string
		line int
		want string
	}{
		{"FROM debian:12\nFRUN x\n", 2, "no instruction FRUN"},
		{"# nothing\n\nRUN true\nFROM debian:12\n", 3, "before FROM"},
		{"ARG A=b\n", 0, "no FROM"},
		{"# nothing\n", 1, "no instructions"},
		{"FROM debian:12\nENV A\n", 2, "ENV"},
		{"FROM debian:12\nRUN true \\\n", 2, "does not end"},
		{"# escape=`\nFROM debian:12\nRUN true `\n# a comment\n", 3, "does not end"},
		{"FROM debian:12\nRUN <<EOF\ntrue\n", 2, "heredoc"},
	} {
		srv.ForgetRequests()
		var failed *remote.BuildError
		err := image(t, b, program(t, "Dockerfile", c.text)).Build(t.Context(), io.Discard)
		if !errors.As(err, &failed) || failed.Line != c.line || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "Dockerfile") {
			t.Errorf("%q: %#v, %v", c.text, failed, err)
		}
		for _, r := range srv.Requests() {
			if r.Method != "GET" {
				t.Errorf("%q: %s %s was sent", c.text, r.Method, r.Path)
			}
		}
	}
	for _, text := range []string{"\ufeffFROM debian:12\r\nRUN true\r\n", "ARG V=12\nFROM debian:$V AS base\nFROM base\nRUN true", "# escape=`\nFROM debian:12\nRUN echo C:\\"} {
		if err := image(t, b, program(t, "Dockerfile", text)).Build(t.Context(), io.Discard); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestBuilders lets several programs build one snapshot at once.
func TestBuilders(t *testing.T) {
	srv := isolated(t, daytonatest.Config{Times: daytonatest.Times{SnapshotBuild: 200 * time.Millisecond}})
	b := on(srv)
	p := program(t)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if err := image(t, b, p).Build(t.Context(), io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if names, err := b.Images(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("snapshots: %+v, %v", names, err)
	}
}

// TestStates finds a snapshot in every state that it can be left in.
func TestStates(t *testing.T) {
	srv := isolated(t, daytonatest.Config{})
	b := on(srv)
	p := program(t)
	img := image(t, b, p)
	if ready, err := img.Ready(t.Context()); ready || err != nil {
		t.Errorf("before it is built: %v, %v", ready, err)
	}
	no := false
	b.AutoBuild = &no
	var missing *remote.MissingImageError
	if _, err := b.Start(t.Context(), driver.Spec{Program: p}); !errors.As(err, &missing) || missing.Image != img.Name() {
		t.Errorf("building is not allowed: %v", err)
	}
	if err := img.Build(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	if ready, err := img.Ready(t.Context()); !ready || err != nil {
		t.Errorf("once it is built: %v, %v", ready, err)
	}
	// One that was not used for long is activated, also where nothing may be built or it is pinned.
	for _, pinned := range []string{"", img.Name()} {
		b := b
		b.Snapshot = pinned
		if err := srv.DeactivateSnapshot(img.Name()); err != nil {
			t.Fatal(err)
		}
		if got := output(t, b, p, "echo here"); got != "here\n" {
			t.Errorf("%q", got)
		}
	}
	b.Snapshot = "no-such-snapshot"
	if _, err := b.Start(t.Context(), driver.Spec{Program: p}); !errors.As(err, &missing) || missing.Image != b.Snapshot || !strings.HasPrefix(err.Error(), "daytona: Snapshot: ") || strings.Contains(err.Error(), "remote-box build") {
		t.Errorf("a snapshot that is none: %v", err)
	}
}

func TestNoRunners(t *testing.T) {
	srv := isolated(t, daytonatest.Config{VMRegions: []string{"eu"}})
	b := on(srv)
	b.Class = daytona.LinuxVM
	err := image(t, b, program(t)).Build(t.Context(), io.Discard)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`region "us"`, "Target", "Class"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it does not name %s: %v", want, err)
		}
	}
	srv = daytonatest.New(t, daytonatest.Config{NoStorage: true})
	if err := image(t, on(srv), program(t)).Build(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "no object storage") {
		t.Errorf("%v", err)
	}
	srv = daytonatest.New(t, daytonatest.Config{Quota: daytonatest.Quota{Snapshots: 1}})
	b = on(srv)
	if err := image(t, b, program(t)).Build(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	b.CPUs = 2
	var limit *remote.LimitError
	if err := image(t, b, program(t)).Build(t.Context(), io.Discard); !errors.As(err, &limit) {
		t.Errorf("%v", err)
	}
	srv = daytonatest.New(t, daytonatest.Config{MissingImages: []string{"nobody/nothing:1"}, V190: true})
	b = on(srv)
	b.BaseImage = "nobody/nothing:1"
	var failed *remote.BuildError
	if err := image(t, b, program(t)).Build(t.Context(), io.Discard); !errors.As(err, &failed) || !strings.Contains(err.Error(), "manifest") {
		t.Errorf("%v", err)
	}
}

// TestVM makes snapshots of class linux-vm and suspends what runs in their sandboxes.
func TestVM(t *testing.T) {
	srv := isolated(t, daytonatest.Config{})
	b := on(srv)
	b.Class = daytona.LinuxVM
	ctx, s, id := started(t, b)
	if _, err := testfunc.Shell.Call(ctx, "(while sleep 0.02; do printf x >>/tmp/ticks; done) >/dev/null 2>&1 & echo $! >/tmp/pid"); err != nil {
		t.Fatal(err)
	}
	if s.PauseSemantics() != remote.PauseSuspend {
		t.Errorf("a pause keeps %v", s.PauseSemantics())
	}
	if _, err := s.Pause(ctx); err != nil {
		t.Fatal(err)
	}
	for _, sb := range srv.Sandboxes() {
		if sb.ID == id && sb.State != "paused" {
			t.Errorf("the paused sandbox is %s", sb.State)
		}
	}
	kept(t, ctx)
	if _, err := testfunc.Shell.Call(ctx, "kill -0 $(cat /tmp/pid)"); err != nil {
		t.Errorf("the process that was suspended is gone: %v", err)
	}
	var names []string
	for _, sb := range srv.Sandboxes() {
		names = append(names, sb.Name+" "+sb.State)
	}
	if len(names) != 1 {
		t.Errorf("sandboxes: %v", names)
	}
	images, err := b.Images(t.Context())
	if err != nil || len(images) != 2 || !slices.ContainsFunc(images, func(i driver.StoredImage) bool { return strings.Contains(i.Name, "-base-") }) {
		t.Errorf("snapshots: %+v, %v", images, err)
	}
}
