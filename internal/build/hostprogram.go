//go:build !remotebox_runner

package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/remote-box/remote/driver"
)

// Query says which packages the remote-box command is asked about.
type Query struct {
	Dir      string   // where patterns are relative to
	Patterns []string // as the go command takes them; none means everything below Dir
}

// Found is what a query found.
type Found struct {
	Dir      string          // of the module, or of the workspace where Dir is in none: the lock's place
	Module   string          // path of that module, or ""
	Packages []string        // what the patterns matched, as import paths
	Programs []HostProgram   // in the order of their names
	Broken   []BrokenPackage // packages that do not compile
}

// HostProgram is a program that holds the user's packages as they are on a host, backends and all:
// run, it can be asked what they register. None of them is a program of the user's, whose main
// functions are left out.
type HostProgram struct {
	Name string // the module, or the main package
	Main bool   // only functions of its main package are its own
	Path string // the executable, "" if there is none
	Err  string // why not

	Inits []InitPackage // what it initialises, in an order in which it can
}

// BrokenPackage is a package that does not compile. Where something is wrong with what packages of
// other modules import, it is the user's package that they are imported for.
type BrokenPackage struct {
	Package  string
	Problems []Problem
	Untidy   bool // modules, or checksums of modules, are missing, which go mod tidy finds
}

// Problem is one thing that the compiler, or the go command, has to say.
type Problem struct {
	File    string // absolute, or "" if it concerns none
	Line    int
	Column  int
	Message string
}

// FindPrograms finds the packages that q asks about and builds programs of those that reach the
// root package: one of each module's libraries, and one of each main package that may register
// functions. What was built before is taken from the cache as long as no file that it was built
// from has another size or time.
func FindPrograms(ctx context.Context, q Query) (*Found, error) {
	c, err := openCache()
	if err != nil {
		return nil, err
	}
	work, err := c.workDir()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	g, err := newHostGo(ctx, work, q.Dir)
	if err != nil {
		return nil, err
	}
	if len(q.Patterns) == 0 {
		q.Patterns = []string{"./..."}
		if g.moduleFile() == "" {
			q.Patterns = []string{"work"} // ./... means nothing beside a go.work
		}
	}
	if f, ok := c.programs(g, q); ok {
		return f, nil
	}
	l, err := listHost(ctx, g, q)
	if err != nil {
		return nil, err
	}
	// The state is taken first: what changes while it is built is built again next time.
	state, err := l.inputs.state()
	if err != nil {
		return nil, err
	}
	f := l.found
	if err := l.buildAll(ctx); err != nil {
		return nil, err
	}
	return f, c.keepPrograms(g, q, f, l.inputs, state)
}

// newHostGo is the go command as the user's own builds run it, but for this host.
func newHostGo(ctx context.Context, work, dir string) (*goCommand, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, fmt.Errorf("%w: finding functions takes the Go toolchain; install it from https://go.dev/dl", err)
	}
	env := append(os.Environ(), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	g := &goCommand{dir: dir, work: work, env: env, target: driver.Target{OS: runtime.GOOS, Arch: runtime.GOARCH}}
	if err := g.readSettings(ctx, dir, hostSettings...); err != nil {
		return nil, err
	}
	if g.moduleFile() == "" && (g.settings["GOWORK"] == "" || g.settings["GOWORK"] == "off") {
		return nil, fmt.Errorf("%w; go to your module's directory, or name it with --root", noModule(dir))
	}
	flags := parseFlags(g.settings["GOFLAGS"])
	return g, g.keepTree(flags["mod"], flags["modfile"])
}

// hostFlags are the flags of every build of a host program. Without -trimpath it knows where its
// sources are, and shares compiled packages with the user's own builds; without a symbol table it
// is linked faster.
func (g *goCommand) hostFlags(overlay string) []string {
	flags := slices.Concat([]string{"-trimpath=false", "-buildvcs=false"}, g.modFlags)
	if _, ok := parseFlags(g.settings["GOFLAGS"])["ldflags"]; !ok {
		flags = append(flags, "-ldflags=-s -w")
	}
	if overlay != "" {
		flags = append(flags, "-overlay", overlay)
	}
	return flags
}

// lockDir is where the lock of what is found belongs.
func (g *goCommand) lockDir() string {
	if f := g.moduleFile(); f != "" {
		return filepath.Dir(f)
	}
	return filepath.Dir(g.settings["GOWORK"])
}
