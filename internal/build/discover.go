//go:build !remotebox_runner

package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/registry"
)

// initTime is how long the packages of a program may take to initialise when it is asked for its
// functions.
const initTime = time.Minute

// planLibrary builds one runner for all packages of the module that register functions, however
// few of them the calling program imports: the image is the same for everybody.
func planLibrary(o *overlay, found *discovery, src Source) (*planned, error) {
	if !slices.Contains(found.Packages, src.Package) {
		return nil, &Error{Package: src.Package, Err: errors.New("it registers no function in the module at " + src.Root + "; was it changed since this program was built?")}
	}
	if err := o.importAll(found, found.Packages); err != nil {
		return nil, err
	}
	return o.write(src.Package, "./"+mainDir)
}

// discovery is what a module registers.
type discovery struct {
	ModulePath string
	ModuleDir  string
	Packages   []string // import paths of packages that register functions
	Dirs       []string // directories of packages outside the module that may change
}

// importAll adds a main package that imports pkgs.
func (o *overlay) importAll(d *discovery, pkgs []string) error {
	var imports []string
	for _, p := range pkgs {
		visible, err := o.visible(d, p)
		if err != nil {
			return err
		}
		imports = append(imports, visible)
	}
	slices.Sort(imports)
	var b bytes.Buffer
	b.WriteString("package main\n\nimport (\n")
	for _, p := range slices.Compact(imports) {
		fmt.Fprintf(&b, "\t_ %q\n", p)
	}
	fmt.Fprintf(&b, "\n\tremotebox_runner %q\n)\n\nfunc main() { remotebox_runner.Main() }\n", Module+"/runner")
	return o.add(filepath.Join(d.ModuleDir, mainDir, "main.go"), b.Bytes())
}

// visible is a package through which the main package may import pkg: itself, or a shim inside
// the tree that an internal directory is for.
func (o *overlay) visible(d *discovery, pkg string) (string, error) {
	rel, ok := relative(d.ModulePath, pkg)
	if !ok {
		return pkg, nil
	}
	parts := strings.Split(rel, "/")
	last := -1
	for i, part := range parts {
		if part == "internal" {
			last = i
		}
	}
	if last <= 0 { // none, or at the module's root, which main may import
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

// relative is pkg's path inside a module.
func relative(module, pkg string) (string, bool) {
	if pkg == module {
		return "", true
	}
	return strings.CutPrefix(pkg, module+"/")
}

// discovered finds the packages that register functions, and keeps the answer in the cache.
func discovered(ctx context.Context, g *goCommand, c *cache, work string, src Source) (*discovery, error) {
	if d, ok := c.discovered(g, src); ok {
		return d, nil
	}
	// The state is taken first: what changes meanwhile is looked at again next time.
	before, err := treeState(src.Root, nil)
	if err != nil {
		return nil, err
	}
	d, err := discover(ctx, g, work, src)
	if err != nil {
		return nil, err
	}
	if after, err := treeState(src.Root, nil); err == nil && after == before {
		c.keepDiscovered(g, src, d)
	}
	return d, nil
}

// keptDiscovery is a discovery in the cache, and the state of the tree that it holds for.
type keptDiscovery struct {
	State string
	Found *discovery
}

func discoveryFile(g *goCommand, src Source) string {
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%q\x00%q\x00%s", src.Root, g.flags(), g.env, g.version))
	return filepath.Join("discovered", hex.EncodeToString(key[:]))
}

// discovered is the answer for this tree, if nothing that decides it has changed since.
func (c *cache) discovered(g *goCommand, src Source) (*discovery, bool) {
	var k keptDiscovery
	b, err := os.ReadFile(filepath.Join(c.dir, discoveryFile(g, src)))
	if err != nil || json.Unmarshal(b, &k) != nil || k.Found == nil {
		return nil, false
	}
	state, err := treeState(src.Root, k.Found.Dirs)
	return k.Found, err == nil && state == k.State
}

func (c *cache) keepDiscovered(g *goCommand, src Source, d *discovery) {
	state, err := treeState(src.Root, d.Dirs)
	if err != nil {
		return
	}
	if b, err := json.Marshal(keptDiscovery{state, d}); err == nil {
		c.write(discoveryFile(g, src), b) // a cache that can't be written is only slow
	}
}

// discover lists the module's packages that reach the root package, builds a program of them and
// asks it which of them register functions.
func discover(ctx context.Context, g *goCommand, work string, src Source) (*discovery, error) {
	out, err := g.run(ctx, src.Package, append([]string{"list", "-e", "-deps", "-json=ImportPath,Name,Dir,Deps,Standard,Module,Error"}, append(g.flags(), "./...")...)...)
	if err != nil {
		return nil, err
	}
	d := &discovery{}
	var candidates []string
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkgInfo
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, &Error{Package: src.Package, Err: err}
		}
		if p.Standard {
			continue
		}
		if p.Module != nil && filepath.Clean(p.Module.Dir) == filepath.Clean(src.Root) {
			d.ModulePath, d.ModuleDir = p.Module.Path, p.Module.Dir
		} else if p.Dir != "" && !g.inModuleCache(p.Dir) {
			d.Dirs = append(d.Dirs, p.Dir)
		}
		if p.Name != "main" && p.Error == nil && slices.Contains(p.Deps, Module) {
			candidates = append(candidates, p.ImportPath)
		}
	}
	if d.ModulePath == "" {
		return nil, &Error{Package: src.Package, Err: fmt.Errorf("there are no packages of its module in %s", src.Root)}
	}
	// An internal package of another module can't be imported from here; whatever imports it can.
	candidates = slices.DeleteFunc(candidates, func(p string) bool {
		_, own := relative(d.ModulePath, p)
		return !own && (strings.Contains(p+"/", "/internal/") || strings.HasPrefix(p, "internal/"))
	})
	entries, err := ask(ctx, g, filepath.Join(work, "discovery"), d, candidates)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		d.Packages = append(d.Packages, e.Package)
	}
	slices.Sort(d.Packages)
	d.Packages = slices.Compact(d.Packages)
	return d, nil
}

// ask builds a program that imports pkgs and returns what it registers. Packages that do not
// compile are left out: they hold nothing that the calling program could have been built from.
func ask(ctx context.Context, g *goCommand, work string, d *discovery, pkgs []string) ([]registry.Entry, error) {
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	host := *g
	if g.target.OS != runtime.GOOS || g.target.Arch != runtime.GOARCH {
		host.target.OS, host.target.Arch = runtime.GOOS, runtime.GOARCH
		host.env = append(slices.Clone(g.env), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	}
	o := overlay{dir: work, Replace: map[string]string{}}
	if err := o.importAll(d, pkgs); err != nil {
		return nil, err
	}
	p, err := o.write(d.ModulePath, "./"+mainDir)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(work, "program")
	_, err = host.run(ctx, p.what, slices.Concat([]string{"build", "-o", program}, p.flags(&host), p.args)...)
	if broken, ok := errors.AsType[*Error](err); ok {
		good := host.compiling(ctx, pkgs)
		if len(good) == len(pkgs) || len(good) == 0 {
			return nil, broken
		}
		return ask(ctx, g, work+"x", d, good)
	}
	if err != nil {
		return nil, err
	}
	return report(ctx, program, work, d.ModulePath)
}

// compiling is which of pkgs compile.
func (g *goCommand) compiling(ctx context.Context, pkgs []string) []string {
	args := append([]string{"list", "-e", "-export", "-f", "{{if and (not .Error) (not .DepsErrors)}}{{.ImportPath}}{{end}}"}, g.flags()...)
	out, err := g.run(ctx, "", append(args, pkgs...)...)
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}

// report runs a program for its list of functions.
func report(ctx context.Context, program, work, what string) ([]registry.Entry, error) {
	limited, cancel := context.WithTimeout(ctx, initTime)
	defer cancel()
	file := filepath.Join(work, "report.json")
	cmd := exec.CommandContext(limited, program)
	cmd.Env = append(os.Environ(), callproc.EnvMode+"="+callproc.ModeList, callproc.EnvReport+"="+file)
	cmd.SysProcAttr = proc.Group()
	cmd.Cancel = func() error {
		proc.SignalGroup(cmd.Process.Pid, 9)
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if limited.Err() != nil {
		err = fmt.Errorf("its packages had not initialised after %v", initTime)
	}
	b, readErr := os.ReadFile(file)
	if err == nil && readErr != nil {
		err = errors.New("its packages ended the program while they initialised")
	}
	var entries []registry.Entry
	if err == nil {
		err = json.Unmarshal(b, &entries)
	}
	if err != nil {
		return nil, &Error{Package: what, Log: tail(string(said), 4<<10), Err: fmt.Errorf("asking the module's packages for their functions: %w", err)}
	}
	return entries, nil
}
