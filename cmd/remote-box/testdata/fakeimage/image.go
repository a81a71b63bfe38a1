//go:build !remotebox_runner

package fakeimage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/image"
)

var (
	_ driver.Imager     = Backend{}
	_ driver.ImageStore = Backend{}
	_ driver.Diagnoser  = Backend{}
)

func (b Backend) prefix() string {
	if b.Prefix == "" {
		return "fake"
	}
	return b.Prefix
}

func (b Backend) settings() image.Settings {
	s := image.Settings{
		Backend: b.Name(), Prefix: b.prefix(), Dockerfile: b.Dockerfile, Pinned: b.Pinned, AutoBuild: b.AutoBuild,
		Target: driver.Target{OS: runtime.GOOS, Arch: runtime.GOARCH, Build: b.Build},
		Baked:  map[string]string{},
	}
	if b.CPU != "" {
		s.Baked["cpu"] = b.CPU
	}
	if b.Platform != "" {
		s.Baked["platform"] = b.Platform
	}
	return s
}

// Image implements driver.Imager.
func (b Backend) Image(ctx context.Context, p driver.Program) (driver.Image, error) {
	if b.Pinned != "" {
		return &fakeImage{b: b, Image: &image.Image{Name: b.Pinned}}, nil
	}
	img, err := image.Compute(ctx, p, b.settings(), nil)
	if err != nil {
		return nil, err
	}
	return &fakeImage{img, b}, nil
}

type fakeImage struct {
	*image.Image
	b Backend
}

func (i *fakeImage) Name() string         { return i.Image.Name }
func (i *fakeImage) Parts() []driver.Part { return i.Image.Parts }

// key is an error unless the credentials are there.
func (b Backend) key() error {
	if !b.NeedsKey {
		return nil
	}
	e := &remote.CredentialError{Backend: b.Name(), Field: "APIKey", Variable: "FAKE_API_KEY", File: "~/.config/fake/api_key"}
	switch key, set := os.LookupEnv("FAKE_API_KEY"); {
	case !set:
		e.Reason = "missing"
	case key == "":
		e.Reason = "empty"
	default:
		return nil
	}
	return e
}

// Ready implements driver.Image.
func (i *fakeImage) Ready(context.Context) (bool, error) {
	if err := i.b.key(); err != nil {
		return false, err
	}
	if os.Getenv("FAKE_IMAGES") == "" {
		return false, errors.New("FAKE_IMAGES is not set")
	}
	return exists(i.Image.Name), nil
}

// Build implements driver.Image. A line FAIL in the Dockerfile fails it.
func (i *fakeImage) Build(_ context.Context, log io.Writer) error {
	if i.b.Pinned != "" {
		return fmt.Errorf("the image %s is named in the backend value, and does not exist", i.b.Pinned)
	}
	fmt.Fprintf(log, "putting the runner into %s\n", i.Image.Name)
	n := 0
	for line := range bytes.Lines(i.Dockerfile) {
		n++
		fmt.Fprintf(log, "step %d: %s", n, line)
		if bytes.HasPrefix(line, []byte("FAIL")) {
			return &remote.BuildError{What: i.DockerfilePath, Line: n, Log: "step failed", Err: errors.New("a line that fails")}
		}
	}
	runner, err := os.ReadFile(i.Runner)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(os.Getenv("FAKE_IMAGES"), ".tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.WriteFile(filepath.Join(tmp, "runner"), runner, 0o700); err != nil {
		return err
	}
	err = os.Rename(tmp, directory(i.Image.Name))
	if exists(i.Image.Name) {
		return nil // somebody else was faster
	}
	return err
}

// Images implements driver.ImageStore.
func (b Backend) Images(context.Context) ([]driver.StoredImage, error) {
	if err := b.key(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(os.Getenv("FAKE_IMAGES"))
	if err != nil {
		return nil, err
	}
	var images []driver.StoredImage
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), b.prefix()+"-") {
			images = append(images, driver.StoredImage{Name: e.Name()})
		}
	}
	return images, nil
}

// RemoveImage implements driver.ImageStore.
func (b Backend) RemoveImage(_ context.Context, name string) error {
	return os.RemoveAll(directory(name))
}

// Diagnose implements driver.Diagnoser.
func (b Backend) Diagnose(context.Context) []driver.Finding {
	dir := driver.Finding{What: "images in FAKE_IMAGES"}
	if _, err := os.Stat(os.Getenv("FAKE_IMAGES")); err != nil {
		dir.Problem, dir.Mend = "there is no such directory", "mkdir -p $FAKE_IMAGES"
	}
	found := []driver.Finding{dir}
	if b.NeedsKey {
		key := driver.Finding{What: "the key"}
		if err := b.key(); err != nil {
			key.Problem, key.Mend = err.Error(), "export FAKE_API_KEY=…"
		}
		found = append(found, key)
	}
	return found
}
