//go:build !remotebox_runner

package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/remote-box/remote/internal/registry"
)

// discovery is what a module registers.
type discovery struct {
	ModulePath string
	ModuleDir  string
	Packages   []string          // import paths of packages that register functions
	Via        map[string]string // packages through which internal ones of other modules are imported
	Dirs       []string          // directories of packages outside the module that may change
}

// discovered finds the packages that register functions, and keeps the answer in the cache.
func discovered(ctx context.Context, g *goCommand, c *cache, src Source) (*discovery, error) {
	// The state is taken first: what changes meanwhile is looked at again next time.
	before, err := treeState(g.dir, nil, g.modInputs)
	if err != nil {
		return nil, err
	}
	d, err := discover(ctx, g, src)
	if err != nil {
		return nil, err
	}
	if after, err := treeState(g.dir, nil, g.modInputs); err == nil && after == before {
		c.keepDiscovered(g, src, d)
	}
	return d, nil
}

// discover lists the module's packages that reach the root package, builds a program of them and
// asks it which of them register functions.
func discover(ctx context.Context, g *goCommand, src Source) (*discovery, error) {
	patterns := []string{"./..."}
	if extra := g.extra(src.Package); extra != "" {
		patterns = append(patterns, extra)
	}
	all, err := g.list(ctx, src.Package, patterns...)
	if err != nil {
		return nil, err
	}
	d := &discovery{Via: map[string]string{}}
	var candidates, hidden []*pkgInfo
	for _, p := range all {
		if p.Standard {
			continue
		}
		own := p.Module != nil && filepath.Clean(p.Module.Dir) == filepath.Clean(g.dir)
		if own {
			d.ModulePath, d.ModuleDir = p.Module.Path, p.Module.Dir
		} else if p.Dir != "" && !g.inModuleCache(p.Dir) {
			d.Dirs = append(d.Dirs, p.Dir)
		}
		if p.Name == "main" || p.Error != nil || !slices.Contains(p.Deps, Module) {
			continue
		}
		// An internal package of another module can't be imported from here; what imports it can.
		if !own && slices.Contains(strings.Split(p.ImportPath, "/"), "internal") {
			hidden = append(hidden, p)
			continue
		}
		candidates = append(candidates, p)
	}
	if d.ModulePath == "" {
		return nil, &Error{Package: src.Package, Err: fmt.Errorf("there are no packages of its module in %s", g.dir)}
	}
	for _, h := range hidden {
		// Dependencies are listed before what depends on them: the first is the nearest.
		for _, p := range candidates {
			if slices.Contains(p.Deps, h.ImportPath) {
				d.Via[h.ImportPath] = p.ImportPath
				break
			}
		}
	}
	var pkgs []string
	for _, p := range candidates {
		pkgs = append(pkgs, p.ImportPath)
	}
	entries, err := ask(ctx, g, d, pkgs)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		d.Packages = append(d.Packages, e.Package)
	}
	slices.Sort(d.Packages)
	d.Packages = slices.Compact(d.Packages)
	return d, nil
}

// extra is pkg if it is in a directory that ./... leaves out: a runner for such a package holds it as
// well, and nobody else's does.
func (g *goCommand) extra(pkg string) string {
	rel, _ := relative(ModulePath(g.dir), pkg)
	for _, part := range strings.Split(rel, "/") {
		if part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") {
			return pkg
		}
	}
	return ""
}

// list lists packages and their dependencies, also those that have errors.
func (g *goCommand) list(ctx context.Context, what string, patterns ...string) ([]*pkgInfo, error) {
	args := slices.Concat([]string{"list", "-e", "-deps", "-json=ImportPath,Name,Dir,Deps,Standard,Module,Error"}, g.flags(g.overlay), patterns)
	out, err := g.run(ctx, what, args...)
	if err != nil {
		return nil, err
	}
	var all []*pkgInfo
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkgInfo)
		if err := dec.Decode(p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, &Error{Package: what, Err: err}
		}
		all = append(all, p)
	}
}

// ask builds a program that imports pkgs and returns what it registers. Packages that do not
// compile are left out: they hold nothing that the calling program could have been built from.
func ask(ctx context.Context, g *goCommand, d *discovery, pkgs []string) ([]registry.Entry, error) {
	host := g.forHost()
	o := newOverlay(host)
	if err := o.importAll(d, pkgs); err != nil {
		return nil, err
	}
	p, err := o.plan(d.ModulePath, "./"+mainDir)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(g.work, "discovery-")
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "program")
	err = p.link(ctx, host, program)
	if broken, ok := errors.AsType[*Error](err); ok {
		good := host.compiling(ctx, pkgs)
		if len(good) == len(pkgs) {
			return nil, broken
		}
		return ask(ctx, g, d, good)
	}
	if err != nil {
		return nil, err
	}
	return report(ctx, g, program, dir, d.ModulePath, pkgs)
}

// forHost is the same for programs that run here.
func (g *goCommand) forHost() *goCommand {
	if g.target.OS == runtime.GOOS && g.target.Arch == runtime.GOARCH {
		return g
	}
	host := *g
	host.target.OS, host.target.Arch = runtime.GOOS, runtime.GOARCH
	host.target.Build.Env = nil // such as the target's C compiler
	host.env = fixedEnvironment(g.settings, host.target)
	return &host
}

// compiling is which of pkgs compile.
func (g *goCommand) compiling(ctx context.Context, pkgs []string) []string {
	args := append([]string{"list", "-e", "-export", "-f", "{{if and (not .Error) (not .DepsErrors)}}{{.ImportPath}}{{end}}"}, g.flags(g.overlay)...)
	out, err := g.run(ctx, "", append(args, pkgs...)...)
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}
