//go:build !remotebox_runner

package build

import (
	"slices"
	"strings"
)

// InitPackage is a package that may do something while it initialises. Trouble of the kind that
// leaves no trace, such as a call of os.Exit, is traced to it by what had initialised before.
type InitPackage struct {
	Path    string
	Deps    []string // others of the program's InitPackages that it imports
	Certain bool     // it does; of others the compiler may have made all values already
}

// inits are the packages of the user's, as opposed to downloaded ones, that a program initialises.
// roots are those that it is built of.
func (l *hostListing) inits(roots []string, main string) []InitPackage {
	linked := map[string]bool{}
	for _, p := range l.all {
		if !slices.Contains(roots, p.ImportPath) {
			continue
		}
		linked[p.ImportPath] = true
		for _, dep := range p.Deps {
			linked[dep] = true
		}
	}
	var found []InitPackage
	for _, p := range l.all { // dependencies first
		if !linked[p.ImportPath] || p.Dir == "" || l.g.inModuleCache(p.Dir) || p.Module != nil && p.Module.Path == Module {
			continue
		}
		may, certain := initWork(p.files())
		if !may {
			continue
		}
		init := InitPackage{Path: p.ImportPath, Certain: certain}
		for _, f := range found {
			if slices.Contains(p.Deps, f.Path) {
				init.Deps = append(init.Deps, f.Path)
			}
		}
		if p.ImportPath == main {
			init.Path = "main" // as the linker calls it
		}
		found = append(found, init)
	}
	return found
}

// Suspects are the packages that may have been initialising when a program ended: the one after
// the last that had been initialised, or, where that may have had nothing to do, one further on.
func (p *HostProgram) Suspects(done func(pkg string) bool) []string {
	order := p.initOrder()
	last := -1
	for i, init := range order {
		if done(init.Path) {
			last = i
		}
	}
	var suspects []string
	for _, init := range order[last+1:] {
		suspects = append(suspects, init.Path)
		if init.Certain {
			break
		}
	}
	return suspects
}

// initOrder is the order of initialisation: the first by path of those whose dependencies have
// been initialised, again and again.
func (p *HostProgram) initOrder() []InitPackage {
	rest := slices.Clone(p.Inits)
	slices.SortFunc(rest, func(a, b InitPackage) int { return strings.Compare(a.Path, b.Path) })
	var order []InitPackage
	waits := func(i InitPackage) bool {
		return slices.ContainsFunc(i.Deps, func(dep string) bool {
			return slices.ContainsFunc(rest, func(r InitPackage) bool { return r.Path == dep })
		})
	}
	for len(rest) > 0 {
		next := slices.IndexFunc(rest, func(i InitPackage) bool { return !waits(i) })
		if next < 0 {
			break // imports have no cycles
		}
		order = append(order, rest[next])
		rest = slices.Delete(rest, next, next+1)
	}
	return order
}
