package docker_test

import (
	"context"
	"errors"
	"fmt"
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
)

func TestBase(t *testing.T) {
	engine(t)
	ctx, _, _ := session(t, docker.Backend{})
	s := look(t, ctx, "/work", "/home/remote-box", "/tmp", "/", "/etc")
	if s.UID != 1000 || s.GID != 1000 || s.User != "remote-box" || s.Home != "/home/remote-box" {
		t.Errorf("the user is %d:%d %q at home in %q", s.UID, s.GID, s.User, s.Home)
	}
	if s.Dir != "/work" || s.Env["HOME"] != s.Home || s.Env["PATH"] == "" {
		t.Errorf("directory %q, HOME=%q, PATH=%q", s.Dir, s.Env["HOME"], s.Env["PATH"])
	}
	want := map[string]bool{"/work": true, "/home/remote-box": true, "/tmp": true, "/": false, "/etc": false}
	if !maps.Equal(s.Writable, want) {
		t.Errorf("writable: %v", s.Writable)
	}
	if s.TmpMode != "dtrwxrwxrwx" {
		t.Errorf("the mode of /tmp is %s", s.TmpMode)
	}
	if !s.Roots || s.Zone != "22:30 +10:30" {
		t.Errorf("CA certificates: %t; noon UTC is %q on Lord Howe Island", s.Roots, s.Zone)
	}
}

func TestOutOfMemory(t *testing.T) {
	engine(t)
	both(t, docker.Backend{MemoryMB: 96}, func(t *testing.T, ctx context.Context) {
		if n, err := testfuncs.Devour.Call(ctx, 8); err != nil || n != 8 {
			t.Fatalf("a modest appetite: %d, %v", n, err)
		}
		_, err := testfuncs.Devour.Call(ctx, 400)
		e, ok := errors.AsType[*remote.ExitError](err)
		if !ok || !e.OOM || e.Signal != "SIGKILL" {
			t.Fatalf("%#v", err)
		}
		if !strings.Contains(err.Error(), "memory ran out") {
			t.Errorf("%v", err)
		}
	})
	ctx, _, _ := session(t, docker.Backend{MemoryMB: 96})
	testfuncs.Devour.Call(ctx, 400)
	if _, err := testfuncs.Greet.Call(ctx, testfuncs.Greeting{Text: "again"}); err != nil {
		t.Errorf("the call after one that took too much: %v", err)
	}
}

func TestNetworkNone(t *testing.T) {
	engine(t)
	both(t, docker.Backend{Network: "none"}, func(t *testing.T, ctx context.Context) {
		if s := look(t, ctx); !slices.Equal(s.Interfaces, []string{"lo"}) {
			t.Errorf("interfaces: %v", s.Interfaces)
		}
	})
}

func TestReadOnlyRoot(t *testing.T) {
	engine(t)
	both(t, docker.Backend{ReadOnlyRoot: true, User: "0:0"}, func(t *testing.T, ctx context.Context) {
		s := look(t, ctx, "/", "/etc", "/tmp", "/work", "/home/remote-box")
		want := map[string]bool{"/": false, "/etc": false, "/tmp": true, "/work": true, "/home/remote-box": true}
		if !maps.Equal(s.Writable, want) {
			t.Errorf("writable: %v", s.Writable)
		}
	})
}

func TestUser(t *testing.T) {
	engine(t)
	both(t, docker.Backend{User: "65534:12"}, func(t *testing.T, ctx context.Context) {
		if s := look(t, ctx, "/tmp"); s.UID != 65534 || s.GID != 12 || !s.Writable["/tmp"] || s.Env["HOME"] == "" {
			t.Errorf("%+v", s)
		}
	})
}

func TestMounts(t *testing.T) {
	c := engine(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note"), []byte("from outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	volume := "remote-box-test-" + filepath.Base(dir) + fmt.Sprint(os.Getpid())
	if _, err := c.VolumeCreate(t.Context(), client.VolumeCreateOptions{Name: volume}); err != nil {
		t.Fatal(err)
	}
	b := docker.Backend{User: "0", Mounts: []docker.Mount{
		{Source: dir, Target: "/mnt/rw"},
		{Source: dir, Target: "/mnt/ro", ReadOnly: true},
		{Source: volume, Target: "/mnt/volume"},
	}}
	t.Run("first", func(t *testing.T) {
		ctx, _, _ := session(t, b)
		if got, err := testfuncs.Read.Call(ctx, "/mnt/ro/note"); err != nil || got != "from outside" {
			t.Errorf("%q, %v", got, err)
		}
		s := look(t, ctx, "/mnt/rw", "/mnt/ro", "/mnt/volume")
		if !s.Writable["/mnt/rw"] || s.Writable["/mnt/ro"] || !s.Writable["/mnt/volume"] {
			t.Errorf("writable: %v", s.Writable)
		}
		if _, err := testfuncs.Write.Call(ctx, [2]string{"/mnt/volume/kept", "here"}); err != nil {
			t.Error(err)
		}
	})
	t.Run("second", func(t *testing.T) {
		ctx, _, _ := session(t, b)
		if got, err := testfuncs.Read.Call(ctx, "/mnt/volume/kept"); err != nil || got != "here" {
			t.Errorf("a named volume does not last: %q, %v", got, err)
		}
	})
	if _, err := c.VolumeRemove(t.Context(), volume, client.VolumeRemoveOptions{}); err != nil {
		t.Error(err)
	}
}

func TestContainer(t *testing.T) {
	c := engine(t)
	_, s, id := session(t, docker.Backend{CPUs: 0.5, MemoryMB: 64, PIDs: 77, Env: map[string]string{"A": "b"}})
	r, err := c.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h, labels := r.Container.HostConfig, r.Container.Config.Labels
	if h.NanoCPUs != 5e8 || h.Memory != 64<<20 || h.MemorySwap != 64<<20 || h.PidsLimit == nil || *h.PidsLimit != 77 || h.AutoRemove {
		t.Errorf("%+v", h.Resources)
	}
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	if labels["remote-box"] != "1" || labels["remote-box.pid"] != fmt.Sprint(os.Getpid()) || labels["remote-box.image"] != ref.Image || labels["remote-box.session"] == "" || labels["remote-box.host"] == "" {
		t.Errorf("labels: %v", labels)
	}
	img, err := c.ImageInspect(t.Context(), ref.Image)
	if err != nil {
		t.Fatal(err)
	}
	if l := img.Config.Labels; l["remote-box"] != "1" || l["remote-box.program"] == "" || !strings.HasSuffix(ref.Image, ":"+l["remote-box.identity"]) {
		t.Errorf("labels of the image %s: %v", ref.Image, l)
	}
}

func TestPrintsNoSecrets(t *testing.T) {
	b := docker.Backend{Env: map[string]string{"KEY": "s3cret"}, CPUs: 1.5}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		got := fmt.Sprintf(format, b)
		if strings.Contains(got, "s3cret") || !strings.Contains(got, "KEY") {
			t.Errorf("%s: %s", format, got)
		}
	}
	if got := b.LogValue().String(); strings.Contains(got, "s3cret") {
		t.Error(got)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		b    docker.Backend
		want string
	}{
		{docker.Backend{Prefix: "Not A Name"}, "Prefix"},
		{docker.Backend{CPUs: -1}, "CPUs"},
		{docker.Backend{MemoryMB: -1}, "MemoryMB"},
		{docker.Backend{MemoryMB: 5}, "docker.Backend.MemoryMB: 5 is less than an engine accepts"},
		{docker.Backend{PIDs: -1}, "PIDs"},
		{docker.Backend{Env: map[string]string{"A=B": ""}}, "docker.Backend.Env"},
		{docker.Backend{Env: map[string]string{"REMOTE_BOX_RUNNER": "1"}}, "docker.Backend.Env: REMOTE_BOX_RUNNER"},
		{docker.Backend{Platform: "windows/amd64"}, "Platform"},
		{docker.Backend{Pinned: "a:b", Dockerfile: "Dockerfile"}, "Pinned"},
		{docker.Backend{Mounts: []docker.Mount{{Source: "/a", Target: "b"}}}, "Mounts"},
		{docker.Backend{Mounts: []docker.Mount{{Source: "./a", Target: "/b"}}}, "Mounts"},
		{docker.Backend{Host: "ssh://somewhere"}, "SSH"},
		{docker.Backend{Host: "unix:///does/not/exist.sock"}, "no engine answers at unix:///does/not/exist.sock: start it"},
		{docker.Backend{Host: "tcp://127.0.0.1:1"}, "no engine answers at tcp://127.0.0.1:1"},
	} {
		_, err := testfuncs.Greet.Call(remote.WithBackend(t.Context(), c.b), testfuncs.Greeting{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.b, err)
		}
	}
}

// TestForeignPlatform runs what the engine's machine can't run, unless it has an emulator.
func TestForeignPlatform(t *testing.T) {
	c := engine(t)
	v, err := c.ServerVersion(t.Context(), client.ServerVersionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	other := map[string]string{"amd64": "arm64", "arm64": "amd64"}[v.Arch]
	if other == "" {
		missing(t, "an engine on "+v.Arch, errors.ErrUnsupported)
	}
	b := docker.Backend{Platform: "linux/" + other}
	if _, err = testfuncs.Greet.Call(remote.WithBackend(t.Context(), b), testfuncs.Greeting{}); err == nil {
		return // it has one
	}
	if !strings.Contains(err.Error(), "docker.Backend.Platform: the image is for "+other) {
		t.Errorf("%v", err)
	}
}
