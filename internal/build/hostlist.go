//go:build !remotebox_runner

package build

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// hostPackage is what is needed of `go list -json`.
type hostPackage struct {
	ImportPath    string
	Name          string
	Dir           string
	GoFiles       []string
	CgoFiles      []string
	EmbedFiles    []string
	EmbedPatterns []string
	Deps          []string
	Standard      bool
	DepOnly       bool
	Incomplete    bool
	Module        *hostModule
	Error         *listError
}

type hostModule struct {
	Path, Dir string
	Main      bool
}

type listError struct {
	ImportStack []string
	Pos, Err    string
}

// reaches reports whether the package may register functions by what it imports.
func (p *hostPackage) reaches() bool { return slices.Contains(p.Deps, Module) }

// hostListing is what there is to be built.
type hostListing struct {
	g       *goCommand
	found   *Found
	inputs  *hostInputs
	all     []*hostPackage
	modules []*hostModule // those that are being worked on, not their dependencies
}

// hostSettings are settings that decide what host programs are built, besides keptSettings. Those
// that name the C compiler's flags are left out: the go command starts it to find them.
var hostSettings = []string{
	"AR", "CC", "CGO_ENABLED", "CXX", "FC", "GCCGO", "GO111MODULE", "GO386", "GOAMD64", "GOARM", "GOARM64", "GODEBUG", "GOENV",
	"GOEXPERIMENT", "GOFIPS140", "GOROOT",
}

// settingsArgs are the arguments of a go command that prints its settings.
func settingsArgs(more ...string) []string {
	return slices.Concat([]string{"env", "-json", "GOFLAGS", "GOMOD", "GOVERSION"}, keptSettings, more)
}

func (g *goCommand) readSettings(ctx context.Context) error {
	out, err := g.run(ctx, g.dir, settingsArgs(hostSettings...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, &g.settings); err != nil {
		return err
	}
	g.version = g.settings["GOVERSION"]
	return nil
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
	slices.Sort(l.found.Packages)
	return l, nil
}

func decodePackages(out []byte) ([]*hostPackage, error) {
	var all []*hostPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(hostPackage)
		if err := dec.Decode(p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
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
	if p.Error != nil {
		l.broken(p.Error.blamed(p.ImportPath), p.Error.problem(l.g.dir))
	}
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

// blamed is the package whose error this is: of one that is missing, the one that imports it.
func (e *listError) blamed(pkg string) string {
	if n := len(e.ImportStack); n > 0 && e.Pos != "" {
		return e.ImportStack[n-1]
	}
	return pkg
}

// problem reads an error of go list, whose position is "file:line:column" or empty.
func (e *listError) problem(dir string) Problem {
	p := parsePosition(e.Pos, dir)
	p.Message = strings.Join(strings.Fields(e.Err), " ")
	return p
}

// parsePosition reads "file:line:column", "file:line" or "file".
func parsePosition(pos, dir string) Problem {
	var p Problem
	var numbers []int
	for len(numbers) < 2 {
		i := strings.LastIndexByte(pos, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(pos[i+1:])
		if err != nil {
			break
		}
		numbers, pos = append(numbers, n), pos[:i]
	}
	switch len(numbers) {
	case 1:
		p.Line = numbers[0]
	case 2:
		p.Column, p.Line = numbers[0], numbers[1]
	}
	if pos != "" && !filepath.IsAbs(pos) {
		pos = filepath.Join(dir, pos)
	}
	p.File = pos
	return p
}
