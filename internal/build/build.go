//go:build !remotebox_runner

// Package build makes runners: static binaries of the user's own packages that serve calls. It
// finds which packages register functions by running them, and never writes to the user's tree.
package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/remote-box/remote/driver"
)

// Module is the import path of the root package.
const Module = "github.com/remote-box/remote"

// RunnerTag is the build tag of runners; host-only code is excluded by it.
const RunnerTag = "remotebox_runner"

// CommandLine is the import path of a package that is just files named to the go command.
const CommandLine = "command-line-arguments"

// Source says where a function comes from.
type Source struct {
	Root    string   // directory of the program's module, or of its files when Package is CommandLine
	Package string   // import path of the declaring package
	Dir     string   // its directory, or "" to have it looked up
	Main    bool     // it was linked as the program's main package
	Files   []string // the files named to the go command, when Package is CommandLine
	Tags    []string // build tags of the host program; nil if unknown, so that GOFLAGS decides
}

// Runner is a built runner.
type Runner struct {
	Path   string // in the cache; its content never changes
	Digest string // SHA-256 of the file, in hex
}

// Error says why a runner could not be built.
type Error struct {
	Package string // the package that failed, or what was to be built
	Log     string // what the go command said, or its end
	Err     error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("building a runner for %s: %v", e.Package, e.Err)
	if e.Log != "" {
		s += "\n" + e.Log
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Build builds the runner for src's functions on the given target, or finds it in the cache.
func Build(ctx context.Context, src Source, t driver.Target) (*Runner, error) {
	cache, err := openCache()
	if err != nil {
		return nil, err
	}
	work, err := cache.workDir()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	g, err := newGo(ctx, work, src, t)
	if err != nil {
		return nil, err
	}
	p, err := plan(ctx, g, cache, src)
	if err != nil {
		return nil, err
	}
	return p.build(ctx, g, cache)
}

// planned is a build whose inputs are known.
type planned struct {
	what    string   // for messages
	overlay string   // file for -overlay
	args    []string // what to build: a package or files
}

// build compiles, and links unless exactly this has been linked before: the go command keeps
// compiled packages but links a main package anew each time.
func (p *planned) build(ctx context.Context, g *goCommand, cache *cache) (*Runner, error) {
	key, err := p.linkKey(ctx, g)
	if err != nil {
		return nil, err
	}
	if r, ok := cache.linked(key); ok {
		return r, nil
	}
	out := filepath.Join(g.work, "runner")
	if err := p.link(ctx, g, out); err != nil {
		return nil, err
	}
	return cache.add(key, out)
}

func (p *planned) link(ctx context.Context, g *goCommand, out string) error {
	_, err := g.run(ctx, p.what, slices.Concat([]string{"build", "-o", out}, g.flags(p.overlay), p.args)...)
	return err
}

// linkKey identifies what the linker would be given: the build ids of all packages, which depend
// on their content alone, that of the main package also on what is recorded of modules; and the
// flags.
func (p *planned) linkKey(ctx context.Context, g *goCommand) (string, error) {
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.BuildID}}"}, g.flags(p.overlay)...)
	inputs, err := g.run(ctx, p.what, append(args, p.args...)...)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n", g.version, g.linkFlags())
	fmt.Fprintf(h, "%s/%s cgo=%t %q\n", g.target.OS, g.target.Arch, g.target.Build.CGO, g.target.Build.Env)
	h.Write(inputs)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// FileDigest is the SHA-256 of a file's content, in hex digits.
func FileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// errNoSource is for functions whose sources are not where the program was built from.
var errNoSource = errors.New("its sources can't be found")
