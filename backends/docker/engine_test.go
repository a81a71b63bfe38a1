package docker_test

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/client"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/docker"
	"github.com/remote-box/remote/backends/docker/internal/testfuncs"
	"github.com/remote-box/remote/driver"
)

// requireVariable makes tests fail that find no engine, as CI does.
const requireVariable = "REMOTE_BOX_REQUIRE_DOCKER"

func required() bool {
	return os.Getenv("CI") == "true" || os.Getenv(requireVariable) == "1"
}

// missing skips a test, or fails it where nothing may be missing.
func missing(t testing.TB, what string, err error) {
	t.Helper()
	if required() {
		t.Fatalf("%s: %v", what, err)
	}
	t.Skipf("%s: %v", what, err)
}

// engine is a client of the engine under test.
func engine(t testing.TB) *client.Client {
	t.Helper()
	c, err := client.New(client.FromEnv)
	if err == nil {
		_, err = c.Ping(t.Context(), client.PingOptions{})
	}
	if err != nil {
		missing(t, "no Docker Engine answers; .ci/dockerd starts one", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// remove destroys a sandbox as somebody else might.
func remove(c *client.Client) func(context.Context, string) error {
	return func(ctx context.Context, id string) error {
		_, err := c.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true})
		return err
	}
}

// busybox is the name of an image with a shell, made here: no registry is needed.
func busybox(t testing.TB, c *client.Client) string {
	t.Helper()
	const name = "remote-box-test/busybox:1"
	if _, err := c.ImageInspect(t.Context(), name); err == nil {
		return name
	}
	b, err := os.ReadFile("/bin/busybox")
	if err != nil || !isStatic(b) {
		missing(t, "no static /bin/busybox (Debian's busybox-static)", err)
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	add := func(h *tar.Header, content []byte) {
		h.Size = int64(len(content))
		if err := errors.Join(w.WriteHeader(h), func() error { _, err := w.Write(content); return err }()); err != nil {
			t.Fatal(err)
		}
	}
	add(&tar.Header{Name: "bin/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	add(&tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, b)
	for _, applet := range strings.Fields("sh cat ls mkdir echo adduser addgroup chown sleep id touch true") {
		add(&tar.Header{Name: "bin/" + applet, Typeflag: tar.TypeSymlink, Linkname: "busybox"}, nil)
	}
	add(&tar.Header{Name: "etc/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	add(&tar.Header{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("root:x:0:0:root:/root:/bin/sh\n"))
	add(&tar.Header{Name: "etc/group", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("root:x:0:\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := c.ImageImport(t.Context(), client.ImageImportSource{Source: &image, SourceName: "-"}, name, client.ImageImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatal(err)
	}
	return name
}

func isStatic(b []byte) bool {
	f, err := elf.NewFile(bytes.NewReader(b))
	return err == nil && !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// program is the real program of the functions in testfuncs, with another root.
type program struct {
	driver.Program
	root string
}

func (p program) Root() (string, error) { return p.root, nil }
func (p program) Name() string          { return "example.com/test" }

func (program) Locked(string, string) (string, bool, error) { return "", false, nil }

// realProgram takes the program out of the spec that a session would start a sandbox with.
func realProgram(t testing.TB) driver.Program {
	t.Helper()
	taker := &specTaker{}
	if err := remote.NewSession(taker).Start(t.Context()); !errors.Is(err, errTaken) {
		t.Fatal(err)
	}
	return taker.spec.Program
}

var errTaken = errors.New("taken")

type specTaker struct {
	docker.Backend
	spec driver.Spec
}

func (s *specTaker) Start(_ context.Context, spec driver.Spec) (driver.Sandbox, error) {
	s.spec = spec
	return nil, errTaken
}

// session returns a context for calls in a session that ends with the test, and its sandbox's id.
func session(t testing.TB, b docker.Backend) (ctx context.Context, s *remote.Session, id string) {
	t.Helper()
	s = remote.NewSession(b)
	t.Cleanup(func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	return s.Context(t.Context()), s, ref.Sandbox
}

// both calls f with a context for calls without a session and with one for calls in a session.
func both(t *testing.T, b docker.Backend, f func(*testing.T, context.Context)) {
	t.Run("fresh", func(t *testing.T) { f(t, remote.WithBackend(t.Context(), b)) })
	t.Run("session", func(t *testing.T) {
		ctx, _, _ := session(t, b)
		f(t, ctx)
	})
}

func look(t *testing.T, ctx context.Context, dirs ...string) testfuncs.Surroundings {
	t.Helper()
	s, err := testfuncs.Look.Call(ctx, dirs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
