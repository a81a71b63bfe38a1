//go:build !remotebox_runner

package remote

import (
	"context"
	"runtime/debug"
	"strings"
)

// Name implements driver.Program.
func (p *program) Name() string {
	if p.f.Main {
		return "main:" + p.f.Package
	}
	return moduleOf(p.f.Package)
}

// Root implements driver.Program. It is asked for by those who make images.
func (p *program) Root() (string, error) {
	src, err := p.sourceFor(context.Background(), false)
	return src.Root, err
}

// Locked implements driver.Program.
func (p *program) Locked(backend, prefix string) (string, bool, error) {
	return locked(p.Name(), backend, prefix)
}

// moduleOf is the path of the module in which a runner with a package's functions is built: the
// program's own, see source, or that of the package where the program knows of none.
func moduleOf(pkg string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return pkg
	}
	if info.Main.Path != "" {
		return info.Main.Path
	}
	best := ""
	for _, m := range info.Deps {
		if (pkg == m.Path || strings.HasPrefix(pkg, m.Path+"/")) && len(m.Path) > len(best) {
			best = m.Path
		}
	}
	if best == "" {
		return pkg
	}
	return best
}
