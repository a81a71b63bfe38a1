//go:build !remotebox_runner

package build

import (
	"context"
	"slices"
	"strings"
)

// hostListing is what there is to be built.
type hostListing struct {
	g       *goCommand
	found   *Found
	inputs  *hostInputs
	all     []*hostPackage
	modules []*hostModule // those that are being worked on, not their dependencies
}

// listHost lists the packages that q asks about and everything that they import.
func listHost(ctx context.Context, g *goCommand, q Query) (*hostListing, error) {
	args := slices.Concat([]string{
		"list", "-e", "-deps",
		"-json=ImportPath,Name,Dir,GoFiles,CgoFiles,EmbedFiles,EmbedPatterns,Deps,Standard,DepOnly,Incomplete,Module,Error",
	}, g.hostFlags(g.overlay), q.Patterns)
	out, err := g.run(ctx, strings.Join(q.Patterns, " "), args...)
	if err != nil {
		return nil, err
	}
	all, err := decodePackages(out)
	if err != nil {
		return nil, err
	}
	if len(g.locks) == 0 {
		for _, p := range all {
			if file, missing := p.missingLock(); missing {
				g.locks = append(g.locks, file)
			}
		}
		if len(g.locks) > 0 {
			o := newOverlay(g)
			if err := o.save(); err != nil {
				return nil, err
			}
			g.overlay = o.file
			return listHost(ctx, g, q)
		}
	}
	l := &hostListing{g: g, found: &Found{Dir: g.lockDir()}, inputs: newHostInputs(g)}
	l.found.Module = ModulePath(l.found.Dir)
	for _, p := range all {
		l.add(p)
	}
	l.addErrors(all)
	slices.Sort(l.found.Packages)
	return l, nil
}

func (l *hostListing) add(p *hostPackage) {
	if p.Standard {
		return
	}
	l.all = append(l.all, p)
	if p.Module != nil && p.Module.Main && !slices.ContainsFunc(l.modules, func(m *hostModule) bool { return m.Path == p.Module.Path }) {
		l.modules = append(l.modules, p.Module)
		l.inputs.Roots = append(l.inputs.Roots, p.Module.Dir)
	}
	if p.Dir != "" && !l.g.inModuleCache(p.Dir) {
		l.inputs.addPackage(p)
	}
	if !p.DepOnly {
		l.found.Packages = append(l.found.Packages, p.ImportPath)
	}
}

// addErrors notes what the go command says of packages.
func (l *hostListing) addErrors(all []*hostPackage) {
	mine := map[string]bool{}
	for _, p := range all {
		mine[p.ImportPath] = p.Module != nil && p.Module.Main || p.ImportPath == CommandLine
	}
	for _, p := range all {
		if p.Error == nil {
			continue
		}
		blamed, problem := p.Error.blamed(p.ImportPath, mine), p.Error.problem(l.g.dir)
		if blamed != p.ImportPath && p.Dir != "" {
			problem.Message = p.ImportPath + ": " + problem.Message
		}
		l.broken(blamed, problem)
		if l.elsewhere(p) {
			i := slices.IndexFunc(l.found.Broken, func(b BrokenPackage) bool { return b.Package == blamed })
			l.found.Broken[i].Untidy = true
		}
	}
}

// elsewhere reports whether a package was not found that another module must have: not one that is
// worked on, nor the standard library.
func (l *hostListing) elsewhere(p *hostPackage) bool {
	first, _, _ := strings.Cut(p.ImportPath, "/")
	if p.Dir != "" || p.Error.Pos == "" || !strings.Contains(first, ".") {
		return false
	}
	return !slices.ContainsFunc(l.modules, func(m *hostModule) bool {
		_, own := relative(m.Path, p.ImportPath)
		return own
	})
}

// broken notes a problem with a package, once.
func (l *hostListing) broken(pkg string, problems ...Problem) {
	i := slices.IndexFunc(l.found.Broken, func(b BrokenPackage) bool { return b.Package == pkg })
	if i < 0 {
		i = len(l.found.Broken)
		l.found.Broken = append(l.found.Broken, BrokenPackage{Package: pkg})
	}
	b := &l.found.Broken[i]
	for _, p := range problems {
		if !slices.Contains(b.Problems, p) {
			b.Problems = append(b.Problems, p)
		}
	}
}
