//go:build !remotebox_runner

package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/remote-box/remote/driver"
)

// plan finds out what is to be built for src and writes the overlay into work.
func plan(ctx context.Context, g *goCommand, cache *cache, work string, src Source, t driver.Target) (*planned, error) {
	o := overlay{dir: work, Replace: map[string]string{}}
	if src.Package == CommandLine {
		return planFiles(&o, src)
	}
	if src.Main && src.Dir != "" {
		return planMain(g, &o, src.Package, src.Dir, t)
	}
	if d, ok := cache.discovered(g, src); ok && slices.Contains(d.Packages, src.Package) {
		return planLibrary(&o, d, src)
	}
	pkg, err := findPackage(ctx, g, src)
	if err != nil {
		return nil, err
	}
	if pkg.Name == "main" {
		return planMain(g, &o, pkg.ImportPath, pkg.Dir, t)
	}
	d, err := discovered(ctx, g, cache, o.dir, src)
	if err != nil {
		return nil, err
	}
	return planLibrary(&o, d, src)
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

// findPackage finds the declaring package in the module at the root.
func findPackage(ctx context.Context, g *goCommand, src Source) (*pkgInfo, error) {
	out, err := g.run(ctx, src.Package, append([]string{"list", "-json=ImportPath,Name,Dir,Module"}, append(g.flags(), src.Package)...)...)
	if err != nil {
		return nil, err
	}
	p := new(pkgInfo)
	if err := json.Unmarshal(out, p); err != nil {
		return nil, &Error{Package: src.Package, Err: err}
	}
	return p, nil
}

// planMain builds a package main as it is, but for its main function.
func planMain(g *goCommand, o *overlay, pkg, dir string, t driver.Target) (*planned, error) {
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled, c.BuildTags = t.OS, t.Arch, t.Build.CGO, g.tags
	p, err := c.ImportDir(dir, 0)
	if err != nil {
		return nil, &Error{Package: pkg, Err: err}
	}
	var files []string
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		files = append(files, filepath.Join(dir, name))
	}
	if _, err := o.replaceMain(dir, files); err != nil {
		return nil, &Error{Package: pkg, Err: err}
	}
	return o.write(pkg, pkg)
}

// planFiles does the same for files that were named to the go command.
func planFiles(o *overlay, src Source) (*planned, error) {
	files, err := closure(src.Files)
	if err != nil {
		return nil, &Error{Package: CommandLine, Err: err}
	}
	added, err := o.replaceMain(filepath.Dir(files[0]), files)
	if err != nil {
		return nil, &Error{Package: strings.Join(src.Files, " "), Err: err}
	}
	return o.write(strings.Join(src.Files, " "), append(files, added)...)
}

// overlay is the go command's -overlay file: files that exist only for this build.
type overlay struct {
	dir     string
	n       int
	Replace map[string]string
}

// add puts a file at path.
func (o *overlay) add(path string, content []byte) error {
	o.n++
	real := filepath.Join(o.dir, fmt.Sprintf("overlay%d.go", o.n))
	o.Replace[path] = real
	return os.WriteFile(real, content, 0o600)
}

// write writes the overlay file and returns the plan to build what it shows.
func (o *overlay) write(what string, args ...string) (*planned, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(o.dir, "overlay.json")
	return &planned{what: what, overlay: name, args: args}, os.WriteFile(name, b, 0o600)
}

// names of what the overlay adds.
const (
	mainDir  = "remotebox_runner"
	shimDir  = "remotebox_shim"
	mainFile = "remotebox_runner_main.go"
)

// replaceMain renames the main function among files, which are in dir, and adds a file with
// another, whose name it returns. The copy keeps every line where it was.
func (o *overlay) replaceMain(dir string, files []string) (added string, err error) {
	for _, file := range files {
		src, ok, err := renameMain(file)
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		if err := o.add(file, src); err != nil {
			return "", err
		}
		added = filepath.Join(dir, mainFile)
		return added, o.add(added, []byte("package main\n\nimport remotebox_runner \""+Module+"/runner\"\n\nfunc main() { remotebox_runner.Main() }\n"))
	}
	return "", fmt.Errorf("none of its files declares func main")
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
			return "", fmt.Errorf("there is no go.mod in %s or above it", dir)
		}
	}
}

// matches reports whether a file would be compiled into a command-line package here.
func matches(dir, name string) bool {
	ctx := build.Default
	ctx.BuildTags = append(slices.Clone(ctx.BuildTags), RunnerTag)
	ok, err := ctx.MatchFile(dir, name)
	return err == nil && ok
}

// ModulePath is the path that the go.mod in root declares, or "".
func ModulePath(root string) string {
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "module" {
			return strings.Trim(f[1], `"`)
		}
	}
	return ""
}
