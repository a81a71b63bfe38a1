//go:build !remotebox_runner

package build

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// buildAll builds the programs. What a package is to blame for is noted; only the end of ctx, and
// what nobody expects, is an error.
func (l *hostListing) buildAll(ctx context.Context) error {
	for _, m := range l.modules {
		if err := l.buildLibrary(ctx, m); err != nil {
			return err
		}
	}
	for _, p := range l.all {
		if p.Name != "main" || p.DepOnly || p.Incomplete || !p.reaches() || l.dependsOnBroken(p) {
			continue
		}
		if files := p.files(); mayRegister(files) {
			if err := l.buildMain(ctx, p, files); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(l.found.Programs, func(a, b HostProgram) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(l.found.Broken, func(a, b BrokenPackage) int { return strings.Compare(a.Package, b.Package) })
	return nil
}

func (p *hostPackage) files() []string {
	var files []string
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		files = append(files, filepath.Join(p.Dir, name))
	}
	return files
}

func (l *hostListing) dependsOnBroken(p *hostPackage) bool {
	return slices.ContainsFunc(l.found.Broken, func(b BrokenPackage) bool {
		return b.Package == p.ImportPath || slices.Contains(p.Deps, b.Package)
	})
}

// buildLibrary builds the program of a module's libraries, of those that compile.
func (l *hostListing) buildLibrary(ctx context.Context, m *hostModule) error {
	for {
		d, pkgs := l.libraries(m)
		if len(pkgs) == 0 {
			return nil
		}
		o := newOverlay(l.g)
		if err := o.importAll(d, pkgs); err != nil {
			return err
		}
		again, err := l.link(ctx, o, HostProgram{Name: m.Path, Inits: l.inits(pkgs, "")}, "./"+l.relative(filepath.Join(m.Dir, mainDir)))
		if err != nil || !again {
			return err
		}
	}
}

// relative is a directory as the go command takes it, from its own.
func (l *hostListing) relative(dir string) string {
	rel, err := filepath.Rel(l.g.dir, dir)
	if err != nil {
		return dir
	}
	return filepath.ToSlash(rel)
}

// libraries are the packages that a program of module m's libraries imports.
func (l *hostListing) libraries(m *hostModule) (*discovery, []string) {
	d := &discovery{ModulePath: m.Path, ModuleDir: m.Dir, Via: map[string]string{}}
	var pkgs []string
	var hidden []*hostPackage
	var candidates []*hostPackage
	for _, p := range l.all {
		if p.Name == "main" || p.Incomplete || p.Error != nil || !p.reaches() || l.dependsOnBroken(p) {
			continue
		}
		own := p.Module != nil && p.Module.Path == m.Path
		switch {
		case !own && (p.Module == nil || p.Module.Main):
			// of another module that is worked on: it has its own program
		case !own && slices.Contains(strings.Split(p.ImportPath, "/"), "internal"):
			hidden = append(hidden, p)
		case own || l.imported(m, p.ImportPath):
			candidates = append(candidates, p)
			pkgs = append(pkgs, p.ImportPath)
		}
	}
	for _, h := range hidden {
		for _, p := range candidates {
			if slices.Contains(p.Deps, h.ImportPath) {
				d.Via[h.ImportPath] = p.ImportPath
				break
			}
		}
	}
	return d, pkgs
}

// imported reports whether a package of module m depends on pkg.
func (l *hostListing) imported(m *hostModule, pkg string) bool {
	return slices.ContainsFunc(l.all, func(p *hostPackage) bool {
		return p.Module != nil && p.Module.Path == m.Path && slices.Contains(p.Deps, pkg)
	})
}

// buildMain builds a main package as it is, but for its main function.
func (l *hostListing) buildMain(ctx context.Context, p *hostPackage, files []string) error {
	o := newOverlay(l.g)
	added, err := o.replaceMain(p.Dir, files)
	if err != nil {
		l.broken(p.ImportPath, Problem{Message: err.Error()})
		return nil
	}
	args := []string{p.ImportPath}
	if p.ImportPath == CommandLine {
		args = append(files, added)
	}
	_, err = l.link(ctx, o, HostProgram{Name: p.ImportPath, Main: true, Inits: l.inits([]string{p.ImportPath}, p.ImportPath)}, args...)
	return err
}

// link builds a program. When packages turn out not to compile they are noted, and again says
// that there may be a program without them.
func (l *hostListing) link(ctx context.Context, o *overlay, p HostProgram, args ...string) (again bool, err error) {
	if err := o.save(); err != nil {
		return false, err
	}
	p.Path = filepath.Join(l.g.work, "program"+strconv.Itoa(len(l.found.Programs)))
	_, err = l.g.run(ctx, p.Name, slices.Concat([]string{"build", "-o", p.Path}, l.g.hostFlags(o.file), args)...)
	failed, ok := errors.AsType[*Error](err)
	if err != nil && !ok {
		return false, err
	}
	if err != nil {
		before := len(l.found.Broken)
		for _, b := range parseLog(failed.Log, l.g.dir) {
			if len(b.Problems) > 0 {
				l.broken(b.Package, b.Problems...)
			}
		}
		if len(l.found.Broken) > before {
			return true, nil
		}
		p.Path, p.Err = "", failed.Log
	}
	l.found.Programs = append(l.found.Programs, p)
	return false, nil
}
