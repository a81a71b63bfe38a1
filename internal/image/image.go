//go:build !remotebox_runner

// Package image computes what an image is made of and the name that follows from it, the same way
// for every backend, and decides whether a missing one may be built.
package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/imagehash"
	"github.com/remote-box/remote/internal/build"
)

// scheme is the version of the computation below. It is part of every identity.
const scheme = "1"

// Settings are what a backend value says about its images.
type Settings struct {
	Backend    string            // the backend's name
	Prefix     string            // of the image's name
	Dockerfile string            // path, from the root if it is not absolute; "" for none
	Baked      map[string]string // settings that are part of the image: cpu, memory, base, …
	Target     driver.Target
	Pinned     string // an image named in the backend value: used as it is
	AutoBuild  *bool  // the backend value's word on building at run time
}

// Image is what an image is made of.
type Image struct {
	Name     string // prefix and identity, in the backend's form
	Identity string // 16 hex digits
	Root     string // of the sources and the build context
	Runner   string // path of the runner's file
	Parts    []driver.Part

	// Dockerfile and Context are nil without a Dockerfile.
	Dockerfile     []byte
	DockerfilePath string
	Context        *imagehash.Tree
}

// Compute computes the image of program p. It builds the runner if need be. name makes the
// image's name of the prefix and the identity; nil joins them with a dash.
func Compute(ctx context.Context, p driver.Program, s Settings, name func(prefix, identity string) string) (*Image, error) {
	root, err := p.Root()
	if err != nil {
		return nil, err
	}
	img := &Image{Root: root}
	if img.Runner, err = p.Runner(ctx, s.Target); err != nil {
		return nil, err
	}
	runner, err := build.FileDigest(img.Runner)
	if err != nil {
		return nil, err
	}
	img.add("scheme", scheme)
	img.add("platform", s.Target.OS+"/"+s.Target.Arch)
	img.add("runner", runner)
	for _, k := range slices.Sorted(maps.Keys(s.Baked)) {
		img.add(k, s.Baked[k])
	}
	if s.Dockerfile != "" {
		if err := img.addDockerfile(ctx, s); err != nil {
			return nil, err
		}
	}
	img.Identity = identity(img.Parts)
	// What follows is for people and for locks.
	img.add(driver.PrefixPart, s.Prefix)
	img.listFiles()
	if name == nil {
		name = func(prefix, identity string) string { return prefix + "-" + identity }
	}
	img.Name = name(s.Prefix, img.Identity)
	return img, nil
}

func (img *Image) add(name, value string) {
	img.Parts = append(img.Parts, driver.Part{Name: name, Value: value})
}

// addDockerfile adds the Dockerfile and its context. The files of the context are listed after
// the digest that stands for them all.
func (img *Image) addDockerfile(ctx context.Context, s Settings) error {
	path := s.Dockerfile
	if !filepath.IsAbs(path) {
		path = filepath.Join(img.Root, path)
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: Dockerfile: there is no file %s", s.Backend, path)
	}
	if err != nil {
		return fmt.Errorf("%s: Dockerfile: %w", s.Backend, err)
	}
	tree, err := imagehash.Walk(ctx, img.Root, imagehash.Options{Dockerfile: path})
	if err != nil {
		return fmt.Errorf("%s: the build context: %w", s.Backend, err)
	}
	sum := sha256.Sum256(b)
	img.Dockerfile, img.DockerfilePath, img.Context = b, path, tree
	img.add("dockerfile", hex.EncodeToString(sum[:]))
	img.add("context", tree.Digest().String())
	return nil
}

// maxListed is how many files of a context are listed one by one.
const maxListed = 5000

// listFiles adds the context's files to the parts, for explanations: the context's digest stands
// for them in the identity already.
func (img *Image) listFiles() {
	if img.Context == nil || img.Context.Len() > maxListed {
		return
	}
	for _, line := range img.Context.Summary() {
		img.add("file "+line.Path, string(rune(line.Kind))+" "+line.Sum)
	}
}

// identity is the digest of the parts, each with its length, so that no two lists look alike.
func identity(parts []driver.Part) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s %d %s\n", len(p.Name), p.Name, len(p.Value), p.Value)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Find chooses the image that a new sandbox is made from: the one pinned in the backend value,
// the one of a lock, or the one that follows from the sources, which alone can be built.
func Find(ctx context.Context, p driver.Program, s Settings, compute func(context.Context) (driver.Image, error)) (name string, image driver.Image, err error) {
	// Also where nothing will be built: a variable that says nothing is mended before it matters.
	if _, err := AutoBuild(s.AutoBuild); err != nil {
		return "", nil, err
	}
	if s.Pinned != "" {
		return s.Pinned, nil, nil
	}
	name, ok, err := p.Locked(s.Backend, s.Prefix)
	if err != nil || ok {
		return name, nil, err
	}
	image, err = compute(ctx)
	if err != nil {
		if _, err := p.Root(); err != nil {
			return "", nil, fmt.Errorf("%s: which image? None is pinned in the backend value, no file named by %s and no lock given to remote.UseLock has one for %s, and its sources are not here: %w", s.Backend, remote.LockVariable, p.Name(), err)
		}
		return "", nil, err
	}
	return image.Name(), image, nil
}
