//go:build !remotebox_runner

package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/registry"
)

// Root implements driver.Program.
func (p *program) Root() (string, error) {
	src, err := p.source()
	if err != nil {
		return "", &BuildError{What: p.f.Package, Err: err}
	}
	return src.Root, nil
}

// Name implements driver.Program.
func (p *program) Name() string {
	if p.f.Main {
		return "main:" + p.f.Package
	}
	return moduleOf(p.f.Package)
}

// Locked implements driver.Program.
func (p *program) Locked(backend, prefix string) (string, bool, error) {
	return locked(p.Name(), backend, prefix)
}

// moduleOf is the path of the module that a package of this program belongs to.
func moduleOf(pkg string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return pkg
	}
	best := ""
	for _, m := range append(slices.Clone(info.Deps), &info.Main) {
		if (pkg == m.Path || strings.HasPrefix(pkg, m.Path+"/")) && len(m.Path) > len(best) {
			best = m.Path
		}
	}
	if best == "" {
		return pkg
	}
	return best
}

// Runner implements driver.Program. Runners are built once in a process: edits after the first
// call count from the next start on.
func (p *program) Runner(ctx context.Context, t driver.Target) (string, error) {
	if registry.SelfRunner() && t.OS == runtime.GOOS && t.Arch == runtime.GOARCH {
		return os.Executable()
	}
	src, err := p.source()
	if err != nil {
		return "", &BuildError{What: p.f.Package, Err: err}
	}
	key := fmt.Sprintf("runner %+v %+v", src, t)
	r, err := registry.Once(ctx, key, func(ctx context.Context) (*build.Runner, error) {
		return build.Build(ctx, src, t)
	})
	if err != nil {
		return "", buildError(err)
	}
	return r.Path, nil
}

func buildError(err error) error {
	if e, ok := errors.AsType[*build.Error](err); ok {
		return &BuildError{What: e.Package, Log: e.Log, Err: e.Err}
	}
	return err
}

// remedies is what to do when the sources are not where they should be.
const remedies = "set remote.Root to the module's directory, or call runner.Main() first in the program's main function so that the program can be its own runner"

// source finds the sources that the program was compiled from. The working directory never counts.
func (p *program) source() (build.Source, error) {
	f := p.f
	src := build.Source{Package: f.Package, Main: f.Main, Tags: hostTags()}
	switch {
	case strings.HasSuffix(f.File, "_test.go"):
		return src, fmt.Errorf("%s is declared in a test file, %s, which no other program can import: add func TestMain(m *testing.M) { runner.Main(); os.Exit(m.Run()) } to the package's tests", f.ID(), f.Pos())
	case f.Root != "":
		src.Root = f.Root
		if f.Package == build.CommandLine {
			src.Files = commandLineFiles(f.Root)
		}
		return src, isDir(f.Root)
	case !filepath.IsAbs(f.File):
		return src, fmt.Errorf("the program was built with -trimpath, so that it does not know where its sources are: %s", remedies)
	}
	if _, err := os.Stat(f.File); err != nil {
		return src, fmt.Errorf("the sources that the program was built from can't be found (%w): %s", err, remedies)
	}
	src.Dir = filepath.Dir(f.File)
	if f.Package == build.CommandLine {
		src.Root, src.Files = src.Dir, commandLineFiles(src.Dir)
		return src, nil
	}
	root, err := build.ModuleRoot(src.Dir)
	if err != nil {
		return src, fmt.Errorf("%w: %s", err, remedies)
	}
	if downloaded(root) {
		// A function of a library belongs to the program that imports it.
		if root = mainModuleRoot(); root == "" {
			return src, fmt.Errorf("%s is a function of a downloaded module, and where the program's own module is can't be told: %s", f.ID(), remedies)
		}
		src.Dir = ""
	}
	src.Root = root
	return src, nil
}

func isDir(dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("remote.Root: %q is not a directory", dir)
	}
	return nil
}

// commandLineFiles are the files in dir that register functions of a package that was named to
// the go command file by file.
func commandLineFiles(dir string) []string {
	var files []string
	for _, f := range registry.All() {
		if f.Package == build.CommandLine {
			files = append(files, filepath.Join(dir, filepath.Base(f.File)))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// downloaded reports whether a module's directory is in the module cache, where it has its
// version in its name.
func downloaded(root string) bool { return strings.Contains(filepath.Base(root), "@") }

// mainModuleRoot finds the directory of the program's main module: that of another function, or
// of a file on the stack.
func mainModuleRoot() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	try := func(file string) string {
		if !filepath.IsAbs(file) {
			return ""
		}
		root, err := build.ModuleRoot(filepath.Dir(file))
		if err != nil || downloaded(root) || build.ModulePath(root) != info.Main.Path {
			return ""
		}
		return root
	}
	for _, f := range registry.All() {
		if root := try(f.File); root != "" {
			return root
		}
	}
	pcs := make([]uintptr, 128)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		frame, more := frames.Next()
		if root := try(frame.File); root != "" {
			return root
		}
		if !more {
			return ""
		}
	}
}

// hostTags are the build tags that this program was built with.
func hostTags() []string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return nil
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" && s.Value != "" {
			return strings.Split(s.Value, ",")
		}
	}
	return nil
}
