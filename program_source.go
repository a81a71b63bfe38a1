//go:build !remotebox_runner

package remote

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/registry"
)

// remedies is what to do when the sources are not where they should be. Only on this host, as on
// the subprocess backend, can a program be its own runner.
func remedies(host bool) string {
	const root = "set remote.Root to the module's directory"
	if !host {
		return root
	}
	return root + ", or call runner.Main() first in the program's main function so that the program can be its own runner"
}

// source finds the sources that the program was compiled from, for a runner on this host.
func (p *program) source(ctx context.Context) (build.Source, error) { return p.sourceFor(ctx, true) }

// sourceFor does so once in a process: it looks at files, stacks and the program itself. The
// working directory never counts. Whether it is for a runner on this host, or for an image,
// decides what the error says.
func (p *program) sourceFor(ctx context.Context, host bool) (build.Source, error) {
	return registry.Once(ctx, fmt.Sprintf("source %s %t", p.f.ID(), host), func(context.Context) (build.Source, error) {
		src, err := findSource(p.f, host)
		if err != nil {
			return src, &BuildError{What: p.f.Package, Err: err}
		}
		return src, nil
	})
}

func findSource(f *registry.Function, host bool) (build.Source, error) {
	src := build.Source{Package: f.Package, Main: f.Main, Tags: hostTags()}
	switch {
	case inTestFile(f) && !host:
		return src, fmt.Errorf("%s is declared in a test file, %s: images are built from packages, which such files are no part of; move it to a file that is not named _test.go, or call it on the subprocess backend, which alone runs functions of test files", f.ID(), f.Pos())
	case inTestFile(f):
		return src, fmt.Errorf("%s is declared in a test file, %s, which no other program can import: add func TestMain(m *testing.M) { runner.Main(); os.Exit(m.Run()) } to the package's tests", f.ID(), f.Pos())
	case f.Root != "":
		src.Root = f.Root
		if f.Package == build.CommandLine {
			src.Files = commandLineFiles(f, f.Root)
		}
		return src, isDir(f.Root)
	case !filepath.IsAbs(f.File):
		return src, fmt.Errorf("the program was built with -trimpath, so that it does not know where its sources are: %s", remedies(host))
	}
	if _, err := os.Stat(f.File); err != nil {
		return src, fmt.Errorf("the sources that the program was built from can't be found (%w): %s", err, remedies(host))
	}
	src.Dir = filepath.Dir(f.File)
	if f.Package == build.CommandLine {
		src.Root, src.Files = src.Dir, commandLineFiles(f, src.Dir)
		return src, nil
	}
	root, err := build.ModuleRoot(src.Dir)
	if err != nil {
		return src, fmt.Errorf("%w: %s", err, remedies(host))
	}
	src.Root = root
	if info, ok := debug.ReadBuildInfo(); ok && build.ModulePath(root) != info.Main.Path {
		// A function of a library belongs to the program that imports it: the versions of all
		// packages are those that the program's module chooses.
		if main := mainModuleRoot(info); main != "" {
			src.Root = main
		} else if downloaded(root) {
			return src, fmt.Errorf("%s is a function of a downloaded module, and where the program's own module is can't be told: %s", f.ID(), remedies(host))
		}
	}
	return src, nil
}

func isDir(dir string) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("remote.Root: %q is not a directory", dir)
	}
	return nil
}

// commandLineFiles are the files that were named to the go command, one of which declares f, as
// they are called in dir: those that left code in this program.
func commandLineFiles(f *registry.Function, dir string) []string {
	files := []string{filepath.Join(dir, filepath.Base(f.File))}
	if exe, err := os.Executable(); err == nil {
		for _, name := range build.FilesBeside(exe, f.File) {
			// Without paths, what cgo and the go command generate seems to lie beside it too.
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				files = append(files, filepath.Join(dir, name))
			}
		}
	}
	for _, r := range registry.All() {
		if r.Package == build.CommandLine {
			files = append(files, filepath.Join(dir, filepath.Base(r.File)))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// downloaded reports whether a module's directory is in the module cache, where it has its
// version in its name.
func downloaded(root string) bool { return strings.Contains(filepath.Base(root), "@") }

// mainModuleRoot finds the directory of the program's main module: that of another function, or
// of what runs now. It returns "" if no file of that module turns up.
func mainModuleRoot(info *debug.BuildInfo) string {
	try := func(function, file string) string {
		if !filepath.IsAbs(file) {
			return ""
		}
		root, err := build.ModuleRoot(filepath.Dir(file))
		if err != nil {
			return ""
		}
		// Of a program that was built from named files no module is recorded; it is where they are.
		if info.Path == build.CommandLine && function == "main.main" || build.ModulePath(root) == info.Main.Path {
			return root
		}
		return ""
	}
	for _, f := range registry.All() {
		function := ""
		if f.Main {
			function = "main.main"
		}
		if root := try(function, f.File); root != "" {
			return root
		}
	}
	// In the trace of all goroutines a line with a function is followed by one with its file. The
	// main function's is there, unless it has gone deeper than a trace shows.
	function := ""
	for line := range strings.Lines(string(stacks())) {
		at, isFile := strings.CutPrefix(line, "\t")
		if !isFile {
			function, _, _ = strings.Cut(line, "(")
			continue
		}
		if i := strings.LastIndexByte(at, ':'); i > 0 {
			if root := try(function, at[:i]); root != "" {
				return root
			}
		}
	}
	return ""
}

// stacks is the trace of all goroutines, as far as it is not beyond reason.
func stacks() []byte {
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || len(buf) > 16<<20 {
			return buf[:n]
		}
		buf = make([]byte, 4*len(buf))
	}
}

// hostTags are the build tags that this program was built with, or nil if it does not know.
func hostTags() []string {
	info, _ := debug.ReadBuildInfo()
	if info == nil || len(info.Settings) == 0 {
		return nil
	}
	tags := []string{}
	for _, s := range info.Settings {
		if s.Key == "-tags" && s.Value != "" {
			tags = strings.Split(s.Value, ",")
		}
	}
	return tags
}
