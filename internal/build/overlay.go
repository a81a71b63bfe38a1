//go:build !remotebox_runner

package build

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// overlay is the go command's -overlay file: files that exist only for this build.
type overlay struct {
	dir     string
	file    string
	Replace map[string]string
}

// Names of what overlays add.
const (
	mainDir  = "remotebox_runner"
	shimDir  = "remotebox_shim"
	mainFile = "remotebox_runner_main.go"
)

// newOverlay makes an overlay for one build.
func newOverlay(g *goCommand) *overlay {
	o := &overlay{dir: g.work, Replace: map[string]string{}}
	if g.workspace != nil {
		o.Replace[g.workspace.file+".sum"] = g.workspace.sums
	}
	o.hideLocks(g.locks...) // a file that can't be written is missed by the go command
	return o
}

// add puts a Go file at path. Its first line is for the compiler: -trimpath alone would leave the
// temporary file's name in the binary where that file is below the module's directory.
func (o *overlay) add(path string, content []byte) error {
	real, err := writeTemp(o.dir, "overlaid-*.go", slices.Concat([]byte("//line "+path+":1:1\n"), content))
	o.Replace[path] = real
	return err
}

// save writes the overlay file.
func (o *overlay) save() error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	o.file, err = writeTemp(o.dir, "overlay-*.json", b)
	return err
}

// plan saves the overlay and returns the plan to build what it shows.
func (o *overlay) plan(what string, args ...string) (*planned, error) {
	if err := o.save(); err != nil {
		return nil, err
	}
	return &planned{what: what, overlay: o.file, args: args}, nil
}

func writeTemp(dir, pattern string, content []byte) (string, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	f.Close()
	return f.Name(), os.WriteFile(f.Name(), content, 0o600)
}

// replaceMain renames the main function among files, which are in dir, and adds a file with
// another, whose name it returns. The copy keeps every line where it was. A main function that is
// left out of runners is just added to.
func (o *overlay) replaceMain(dir string, files []string) (added string, err error) {
	for _, file := range files {
		src, ok, err := renameMain(file)
		if err != nil {
			return "", err
		}
		if ok {
			if err := o.add(file, src); err != nil {
				return "", err
			}
			break
		}
	}
	if err := o.hideLocks(filepath.Join(dir, lockName)); err != nil {
		return "", err
	}
	added = filepath.Join(dir, mainFile)
	return added, o.add(added, []byte("package main\n\nimport remotebox_runner \""+Module+"/runner\"\n\nfunc main() { remotebox_runner.Main() }\n"))
}

// importAll adds a main package that imports pkgs.
func (o *overlay) importAll(d *discovery, pkgs []string) error {
	imports := map[string]bool{}
	for _, p := range pkgs {
		visible, err := o.visible(d, p)
		if err != nil {
			return err
		}
		imports[visible] = true
	}
	var b bytes.Buffer
	b.WriteString("package main\n\nimport (\n")
	for _, p := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&b, "\t_ %q\n", p)
	}
	fmt.Fprintf(&b, "\n\tremotebox_runner %q\n)\n\nfunc main() { remotebox_runner.Main() }\n", Module+"/runner")
	return o.add(filepath.Join(d.ModuleDir, mainDir, "main.go"), b.Bytes())
}

// visible is a package through which the module's own main package may import pkg: itself; a
// package of its module that imports it; or a shim inside the tree that an internal directory is
// for. Only the program's own module takes shims: others may be in the module cache.
func (o *overlay) visible(d *discovery, pkg string) (string, error) {
	if via := d.Via[pkg]; via != "" {
		return via, nil
	}
	rel, ok := relative(d.ModulePath, pkg)
	parts := strings.Split(rel, "/")
	last := lastIndex(parts, "internal")
	if !ok || last <= 0 { // at the module's root main may import an internal directory too
		return pkg, nil
	}
	parent := path.Join(append([]string{d.ModulePath}, parts[:last]...)...)
	// Each package that needs one gets its own shim, named after it: which others there are does
	// not matter.
	sum := sha256.Sum256([]byte(pkg))
	shim := path.Join(parent, shimDir, "x"+hex.EncodeToString(sum[:6]))
	relShim, _ := relative(d.ModulePath, shim)
	file := filepath.Join(d.ModuleDir, filepath.FromSlash(relShim), "shim.go")
	if err := o.add(file, fmt.Appendf(nil, "package shim\n\nimport _ %q\n", pkg)); err != nil {
		return "", err
	}
	return o.visible(d, shim)
}

func lastIndex(parts []string, part string) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i] == part {
			return i
		}
	}
	return -1
}

// relative is pkg's path inside a module.
func relative(module, pkg string) (string, bool) {
	if pkg == module {
		return "", true
	}
	return strings.CutPrefix(pkg, module+"/")
}
