//go:build !remotebox_runner

package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// plan finds out what is to be built for src.
func plan(ctx context.Context, g *goCommand, cache *cache, src Source) (*planned, error) {
	if src.Package == CommandLine {
		return planFiles(g, src)
	}
	if src.Main && src.Dir != "" {
		return planMain(g, src.Package, src.Dir)
	}
	if d, ok := cache.discovered(g, src); ok && slices.Contains(d.Packages, src.Package) {
		return planLibrary(ctx, g, d, src)
	}
	pkg, err := findPackage(ctx, g, src)
	if err != nil {
		return nil, err
	}
	if pkg.Name == "main" {
		return planMain(g, pkg.ImportPath, pkg.Dir)
	}
	d, err := discovered(ctx, g, cache, src)
	if err != nil {
		return nil, err
	}
	return planLibrary(ctx, g, d, src)
}

// pkgInfo is what is needed of `go list -json`.
type pkgInfo struct {
	ImportPath string
	Name       string
	Dir        string
	Deps       []string
	Standard   bool
	Module     *struct{ Path, Dir string }
	Error      *struct{ Err string }
}

// findPackage finds the declaring package among those that the program's module may import.
func findPackage(ctx context.Context, g *goCommand, src Source) (*pkgInfo, error) {
	out, err := g.run(ctx, src.Package, slices.Concat([]string{"list", "-json=ImportPath,Name,Dir"}, g.flags(g.overlay), []string{src.Package})...)
	if err != nil {
		return nil, cgoHint(err, src, g)
	}
	p := new(pkgInfo)
	if err := json.Unmarshal(out, p); err != nil {
		return nil, &Error{Package: src.Package, Err: err}
	}
	return p, nil
}

// cgoHint explains the failure of a package whose files all need cgo.
func cgoHint(err error, src Source, g *goCommand) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || g.target.Build.CGO || src.Dir == "" {
		return err
	}
	c := g.buildContext()
	if _, err := c.ImportDir(src.Dir, 0); err == nil {
		return e
	}
	c.CgoEnabled = true
	if p, err := c.ImportDir(src.Dir, 0); err != nil || len(p.CgoFiles) == 0 {
		return e
	}
	return &Error{Package: e.Package, Log: e.Log, Err: fmt.Errorf("%w; the package needs cgo, which runners are built without unless the backend's Build says CGO: true", e.Err)}
}

// planMain builds a package main as it is, but for its main function.
func planMain(g *goCommand, pkg, dir string) (*planned, error) {
	p, err := g.buildContext().ImportDir(dir, 0)
	if err != nil {
		return nil, &Error{Package: pkg, Err: err}
	}
	var files []string
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		files = append(files, filepath.Join(dir, name))
	}
	o := newOverlay(g)
	if _, err := o.replaceMain(dir, files); err != nil {
		return nil, &Error{Package: pkg, Err: err}
	}
	return o.plan(pkg, pkg)
}

// planFiles does the same for files that were named to the go command.
func planFiles(g *goCommand, src Source) (*planned, error) {
	files, err := closure(g.buildContext(), src.Files)
	if err != nil {
		return nil, &Error{Package: CommandLine, Err: err}
	}
	what := strings.Join(src.Files, " ")
	o := newOverlay(g)
	added, err := o.replaceMain(filepath.Dir(files[0]), files)
	if err != nil {
		return nil, &Error{Package: what, Err: err}
	}
	return o.plan(what, append(files, added)...)
}

// planLibrary builds one runner for all packages of the module that register functions, however
// few of them the calling program imports: the image is the same for everybody.
func planLibrary(ctx context.Context, g *goCommand, found *discovery, src Source) (*planned, error) {
	pkgs := found.Packages
	if !slices.Contains(pkgs, src.Package) {
		// It did register a function when the calling program was built.
		if _, err := g.run(ctx, src.Package, slices.Concat([]string{"build"}, g.flags(g.overlay), []string{src.Package})...); err != nil {
			return nil, cgoHint(err, src, g)
		}
		return nil, &Error{Package: src.Package, Err: errors.New("it registers no function in the module at " + found.ModuleDir + "; was it changed since this program was built?")}
	}
	o := newOverlay(g)
	if err := o.importAll(found, pkgs); err != nil {
		return nil, err
	}
	return o.plan(src.Package, "./"+mainDir)
}

// ModuleRoot finds the directory of the go.mod above dir.
func ModuleRoot(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "go.mod")); err == nil {
			return d, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if d == filepath.Dir(d) {
			return "", noModule(dir)
		}
	}
}

// ModulePath is the path that the go.mod in root declares, or "".
func ModulePath(root string) string {
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "module" {
			return strings.Trim(f[1], "\"`")
		}
	}
	return ""
}
