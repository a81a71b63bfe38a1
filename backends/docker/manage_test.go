package docker_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/remote-box/remote/backends/docker"
	"github.com/remote-box/remote/driver"
)

func TestManage(t *testing.T) {
	engine(t)
	b := docker.Backend{Prefix: "remote-box-manage-test"}
	if err := b.RemoveImage(t.Context(), "busybox:latest"); err == nil {
		t.Error("an image of somebody else was to be removed")
	}
	if err := b.RemoveImage(t.Context(), b.Prefix+":0123456789abcdef"); err != nil {
		t.Errorf("removing an image that is gone: %v", err)
	}
	for _, f := range b.Diagnose(t.Context()) {
		if f.Problem != "" || !strings.HasPrefix(f.What, "Docker Engine ") {
			t.Errorf("%+v", f)
		}
	}
	away := docker.Backend{Host: "unix:///does/not/exist.sock"}
	if f := away.Diagnose(t.Context()); len(f) != 1 || f[0].Problem == "" || f[0].Mend == "" || !strings.Contains(f[0].What, "/does/not/exist.sock") {
		t.Errorf("%+v", f)
	}

	img, err := b.Image(t.Context(), realProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	name := img.Name()
	if err := img.Build(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	has := func() bool {
		images, err := b.Images(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(images, func(i driver.StoredImage) bool {
			return i.Name == name && i.Size > 0 && !i.Created.IsZero() && i.Program != ""
		})
	}
	if !has() {
		t.Error("the image is not listed")
	}
	if err := b.RemoveImage(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if has() {
		t.Error("the image is still listed")
	}
}
