//go:build !remotebox_runner

package build

import (
	"bytes"
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

// keepTree arranges that the go command leaves the user's files alone. There are two it may write
// to: go.mod with its go.sum under -mod=mod, and go.work.sum in a workspace at any time.
func (g *goCommand) keepTree(mod, modfile string) error {
	if work := g.settings["GOWORK"]; work != "" && work != "off" {
		g.modInputs = append(g.modInputs, work, work+".sum")
		if _, err := os.Stat(filepath.Join(filepath.Dir(work), "vendor", "modules.txt")); err != nil {
			var err error
			if g.workspace, err = newWorkspace(work, g.work); err != nil {
				return err
			}
			o := newOverlay(g)
			if err := o.save(); err != nil {
				return err
			}
			g.overlay = o.file
		}
	}
	if modfile != "" && !filepath.IsAbs(modfile) {
		modfile = filepath.Join(g.dir, modfile)
	}
	if modfile != "" {
		g.modInputs = append(g.modInputs, modfile)
	}
	if mod == "mod" && g.moduleFile() != "" {
		from, copied := g.moduleFile(), filepath.Join(g.work, "go.mod")
		if modfile != "" {
			from = modfile
		}
		if err := errors.Join(copyFile(from, copied), copyFile(sumOf(from), sumOf(copied))); err != nil {
			return err
		}
		modfile = copied
	}
	if mod != "" {
		g.modFlags = append(g.modFlags, "-mod="+mod)
	}
	if modfile != "" {
		g.modFlags = append(g.modFlags, "-modfile="+modfile)
	}
	return nil
}

// sumOf is the file of checksums that belongs to a go.mod.
func sumOf(modfile string) string { return strings.TrimSuffix(modfile, ".mod") + ".sum" }

// copyFile copies a file; one that does not exist is copied as nothing.
func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// workspace is a go.work. The go command notes in its go.work.sum what it downloads, whatever it
// was told to do. Here an overlay lies over that file, which makes the go command refuse to go on
// when there is something to be noted; then it is asked what that is in a copy of the workspace.
// Builds themselves can't take place in the copy: the paths of replaced modules are relative to
// it, and are written into the binary.
type workspace struct {
	file   string // the go.work
	sums   string // what stands for its go.work.sum
	copied string // directory for the copy
	asked  bool
}

func newWorkspace(file, work string) (*workspace, error) {
	w := &workspace{file: file, sums: filepath.Join(work, "overlaid.work.sum"), copied: filepath.Join(work, "workspace")}
	if err := os.WriteFile(w.sums, nil, 0o600); err != nil {
		return nil, err
	}
	return w, copyFile(file+".sum", w.sums)
}

// findSums asks which checksums are missing, once, and reports whether there are any.
func (w *workspace) findSums(ctx context.Context, g *goCommand) bool {
	if w.asked {
		return false
	}
	w.asked = true
	if w.copy(ctx, g) != nil {
		return false
	}
	sums := filepath.Join(w.copied, "go.work.sum")
	if copyFile(w.sums, sums) != nil {
		return false
	}
	env := append(slices.Clone(g.env), "GOWORK="+filepath.Join(w.copied, "go.work"))
	args := append([]string{"list", "-e", "-deps", "-f", "{{.Name}}"}, g.flags("")...)
	// An error shows in the build that is tried again.
	g.runIn(ctx, "", env, append(args, "./...")...)
	before, _ := os.ReadFile(w.sums)
	after, err := os.ReadFile(sums)
	return err == nil && !bytes.Equal(before, after) && os.WriteFile(w.sums, after, 0o600) == nil
}

// copy writes a go.work that means the same in another directory.
func (w *workspace) copy(ctx context.Context, g *goCommand) error {
	out, err := g.runIn(ctx, "", g.env, "work", "edit", "-json")
	if err != nil {
		return err
	}
	type module struct{ Path, Version string }
	var f struct {
		Go, Toolchain string
		Godebug       []struct{ Key, Value string }
		Use           []struct{ DiskPath string }
		Replace       []struct{ Old, New module }
	}
	if err := json.Unmarshal(out, &f); err != nil {
		return err
	}
	abs := func(path string) string {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(w.file), path)
		}
		return path
	}
	var b bytes.Buffer
	if f.Go != "" {
		fmt.Fprintf(&b, "go %s\n", f.Go)
	}
	if f.Toolchain != "" {
		fmt.Fprintf(&b, "toolchain %s\n", f.Toolchain)
	}
	for _, d := range f.Godebug {
		fmt.Fprintf(&b, "godebug %s=%s\n", d.Key, d.Value)
	}
	for _, u := range f.Use {
		fmt.Fprintf(&b, "use %q\n", abs(u.DiskPath))
	}
	for _, r := range f.Replace {
		if r.New.Version == "" {
			r.New.Path = abs(r.New.Path)
		}
		fmt.Fprintf(&b, "replace %q %s => %q %s\n", r.Old.Path, r.Old.Version, r.New.Path, r.New.Version)
	}
	if err := os.MkdirAll(w.copied, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.copied, "go.work"), b.Bytes(), 0o600)
}
