package docker_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/docker"
	"github.com/remote-box/remote/backends/docker/internal/testfuncs"
	"github.com/remote-box/remote/driver"
)

// writeTree writes files below a directory; names that end in a slash are directories.
func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p := filepath.Join(root, filepath.FromSlash(name))
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o755)
		} else {
			err = errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(files[name]), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// build makes the image of a root, where the Dockerfile is called Dockerfile.
func build(t testing.TB, root string) (name, log string, err error) {
	t.Helper()
	img, err := docker.Backend{Prefix: "remote-box-test", Dockerfile: "Dockerfile"}.Image(t.Context(), program{realProgram(t), root})
	if err != nil {
		t.Fatal(err)
	}
	var out syncBuffer
	err = img.Build(t.Context(), &out)
	if err == nil {
		t.Cleanup(func() { removeImage(t, img.Name()) })
		if ready, err := img.Ready(t.Context()); err != nil || !ready {
			t.Errorf("built, but not ready: %t, %v", ready, err)
		}
	}
	return img.Name(), out.String(), err
}

func removeImage(t testing.TB, name string) {
	c, err := client.New(client.FromEnv)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.ImageRemove(context.WithoutCancel(t.Context()), name, client.ImageRemoveOptions{Force: true}); err != nil {
		t.Error(err)
	}
}

func TestDockerfiles(t *testing.T) {
	c := engine(t)
	base := busybox(t, c)
	for _, d := range []struct {
		name, dockerfile string
		files            map[string]string
		read             map[string]string // what files must hold
		check            func(*testing.T, testfuncs.Surroundings)
	}{
		{
			name:       "plain",
			dockerfile: "FROM " + base + "\nCOPY data.txt /data.txt\nRUN cat /data.txt /data.txt >/twice\n",
			files:      map[string]string{"data.txt": "data"},
			read:       map[string]string{"/data.txt": "data", "/twice": "datadata"},
		},
		{
			name:       "several stages, and ARG before FROM",
			dockerfile: "ARG BASE=" + base + "\nFROM ${BASE} AS build\nARG WHO=me\nRUN echo -n $WHO >/out\nFROM ${BASE}\nCOPY --from=build /out /in\n",
			read:       map[string]string{"/in": "me"},
		},
		{
			name:       "a syntax line and heredocs",
			dockerfile: "# syntax=docker/dockerfile:1\nFROM " + base + "\nRUN <<EOF\necho -n one >/one\necho -n two >/two\nEOF\nCOPY <<END /three\nthree\nEND\n",
			read:       map[string]string{"/one": "one", "/two": "two", "/three": "three\n"},
		},
		{
			name:       "heredocs without a syntax line, and a cache mount",
			dockerfile: "FROM " + base + "\nRUN --mount=type=cache,target=/cache <<EOF\ntouch /cache/x\necho -n one >/one\nEOF\n",
			read:       map[string]string{"/one": "one"},
		},
		{
			name:       "user, entrypoint, command, directory, environment",
			dockerfile: "FROM " + base + "\nRUN echo app:x:4711:4711::/home/app:/bin/sh >>/etc/passwd && mkdir -p /home/app /app && chown 4711 /app\nENV COLOUR=blue\nWORKDIR /app\nUSER app\nENTRYPOINT [\"/bin/sleep\"]\nCMD [\"1000000\"]\nHEALTHCHECK CMD false\nSTOPSIGNAL SIGKILL\n",
			check: func(t *testing.T, s testfuncs.Surroundings) {
				if s.UID != 4711 || s.User != "app" || s.Dir != "/app" || s.Env["COLOUR"] != "blue" || s.Env["HOME"] != "/home/app" || !s.Writable["/app"] {
					t.Errorf("%+v", s)
				}
			},
		},
		{
			name:       "from scratch, another escape character, lines that end in CR LF",
			dockerfile: "# escape=`\r\nFROM scratch\r\nCOPY a.txt `\r\n  b.txt /files/\r\nUSER 12:13\r\n",
			files:      map[string]string{"a.txt": "a", "b.txt": "b"},
			read:       map[string]string{"/files/a.txt": "a", "/files/b.txt": "b"},
			check: func(t *testing.T, s testfuncs.Surroundings) {
				if s.UID != 12 || s.GID != 13 || s.TmpMode != "dtrwxrwxrwx" {
					t.Errorf("%+v", s)
				}
			},
		},
		{
			name:       "ignored files",
			dockerfile: "FROM scratch\nCOPY . /ctx\n",
			files:      map[string]string{".dockerignore": "*.log\n!keep.log\nDockerfile\n", "x.log": "", "keep.log": "kept", ".env": "SECRET=1", "node_modules/m/x.js": "", "empty/": ""},
			check: func(t *testing.T, s testfuncs.Surroundings) {
				if want := []string{".dockerignore", "empty/", "keep.log"}; !slices.Equal(s.Found, want) {
					t.Errorf("/ctx holds %q, want %q", s.Found, want)
				}
			},
		},
	} {
		t.Run(d.name, func(t *testing.T) {
			files := maps.Clone(d.files)
			if files == nil {
				files = map[string]string{}
			}
			files["Dockerfile"] = d.dockerfile
			name, log, err := build(t, writeTree(t, files))
			if err != nil {
				t.Fatalf("%v\n%s", err, log)
			}
			if !strings.Contains(log, "remote-box") {
				t.Errorf("the log tells little: %q", log)
			}
			ctx, _, id := session(t, docker.Backend{Pinned: name})
			for file, want := range d.read {
				if got, err := testfuncs.Read.Call(ctx, file); err != nil || got != want {
					t.Errorf("%s holds %q, want %q (%v)", file, got, want, err)
				}
			}
			if d.check != nil {
				s := look(t, ctx, "/app")
				s.Found, _ = testfuncs.List.Call(ctx, "/ctx")
				d.check(t, s)
			}
			keepsConfig(t, c, name, id, d.dockerfile)
		})
	}
}

// keepsConfig checks that an ENTRYPOINT is left alone in the image.
func keepsConfig(t *testing.T, c *client.Client, name, id, dockerfile string) {
	t.Helper()
	img, err := c.ImageInspect(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dockerfile, "ENTRYPOINT") && (!slices.Equal(img.Config.Entrypoint, []string{"/bin/sleep"}) || img.Config.Healthcheck == nil) {
		t.Errorf("the image's configuration: %+v", img.Config)
	}
	if img.Config.Labels["remote-box"] != "1" {
		t.Errorf("labels: %v", img.Config.Labels)
	}
}

func TestBuildErrors(t *testing.T) {
	c := engine(t)
	base := busybox(t, c)
	for _, d := range []struct {
		name, dockerfile string
		line             int
		text, log        string
	}{
		{"a step that fails", "FROM " + base + "\n\n# why\nRUN echo last words && false\n", 4, "exit code: 1", "last words"},
		{"an unknown instruction", "FROM " + base + "\nRUM echo\n", 2, "RUM", ""},
		{"a file that is not there", "FROM " + base + "\nRUN true\nCOPY missing /\n", 3, "missing", ""},
		{"a stage that is not there", "FROM " + base + "\nCOPY --from=nowhere:none /a /b\n", 2, "nowhere", ""},
		{"no base image", "FROM remote-box-test/does-not-exist:1\n", 1, "remote-box-test/does-not-exist", ""},
		{"nothing at all", "# only a comment\n", 1, "", ""},
	} {
		t.Run(d.name, func(t *testing.T) {
			_, _, err := build(t, writeTree(t, map[string]string{"Dockerfile": d.dockerfile}))
			e, ok := errors.AsType[*remote.BuildError](err)
			if !ok {
				t.Fatalf("%v", err)
			}
			if e.What != "Dockerfile" || e.Line != d.line || !strings.Contains(e.Err.Error(), d.text) || !strings.Contains(e.Log, d.log) {
				t.Errorf("What %q, line %d, log %q: %v", e.What, e.Line, e.Log, e.Err)
			}
		})
	}
}

func TestBuildCanceled(t *testing.T) {
	c := engine(t)
	root := writeTree(t, map[string]string{"Dockerfile": "FROM " + busybox(t, c) + "\nRUN echo ready && sleep 1000\n"})
	img, err := docker.Backend{Dockerfile: "Dockerfile"}.Image(t.Context(), program{realProgram(t), root})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := img.Build(ctx, &onText{text: "ready", f: cancel}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// onText calls f when it has seen a text.
type onText struct {
	text string
	f    func()
	seen strings.Builder
}

func (w *onText) Write(p []byte) (int, error) {
	w.seen.Write(p)
	if strings.Contains(w.seen.String(), w.text) {
		w.f()
	}
	return len(p), nil
}

// Whatever the image could hold changes its name, and nothing else does.
func TestIdentity(t *testing.T) {
	real := realProgram(t)
	root := writeTree(t, map[string]string{"Dockerfile": "FROM scratch\nCOPY . /\n", "a": "1", ".dockerignore": "ignored\n"})
	name := func(b docker.Backend, root string) string {
		t.Helper()
		img, err := b.Image(t.Context(), program{real, root})
		if err != nil {
			t.Fatal(err)
		}
		return img.Name()
	}
	plain := name(docker.Backend{}, root)
	if !strings.HasPrefix(plain, "remote-box:") {
		t.Error(plain)
	}
	same := docker.Backend{CPUs: 2, MemoryMB: 64, PIDs: 9, Env: map[string]string{"A": "b"}, Network: "none", User: "5", ReadOnlyRoot: true, Host: "unix:///x", Runtime: "runsc"}
	if got := name(same, root); got != plain {
		t.Errorf("settings of a container change the image's name from %s to %s", plain, got)
	}
	d := docker.Backend{Dockerfile: "Dockerfile"}
	first := name(d, root)
	if first == plain {
		t.Error("a Dockerfile changes nothing")
	}
	change := func(file, content string, changes bool) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := name(d, root); (got != first) != changes {
			t.Errorf("after a change of %s: %s, before %s", file, got, first)
		} else {
			first = got
		}
	}
	change("ignored", "x", false)
	change("a", "2", true)
	change("Dockerfile", "FROM scratch\n", true)
	change("remote-box.lock.json", "{}", false)
}

func TestMissingImage(t *testing.T) {
	engine(t)
	never := false
	ctx := remote.WithBackend(t.Context(), docker.Backend{Prefix: "remote-box-test-never", AutoBuild: &never})
	_, err := testfuncs.Greet.Call(ctx, testfuncs.Greeting{})
	if e, ok := errors.AsType[*remote.MissingImageError](err); !ok || e.Backend != "docker" || !strings.HasPrefix(e.Image, "remote-box-test-never:") {
		t.Errorf("%v", err)
	}
	ctx = remote.WithBackend(t.Context(), docker.Backend{Pinned: "127.0.0.1:1/nothing:1"})
	if _, err := testfuncs.Greet.Call(ctx, testfuncs.Greeting{}); err == nil || !strings.Contains(err.Error(), "docker pull 127.0.0.1:1/nothing:1") {
		t.Errorf("%v", err)
	}
}

var _ driver.Imager = docker.Backend{}
