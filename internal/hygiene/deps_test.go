package hygiene

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/remote-box/remote"

// deps lists what a package links that is not of the standard library.
func deps(t *testing.T, pkg string, flags ...string) []string {
	t.Helper()
	args := append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}"}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, pkg)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pkg, err)
	}
	return strings.Fields(string(out))
}

func below(pkg, parent string) bool { return pkg == parent || strings.HasPrefix(pkg, parent+"/") }

// TestImports holds the arrows of ARCHITECTURE.md.
func TestImports(t *testing.T) {
	for _, c := range []struct {
		pkg    string
		flags  []string
		own    []string // packages of this module that it may link, with what is below them
		others []string // the same, of other modules
	}{
		{pkg: ".", own: []string{"internal", "driver", "runner"}},
		{pkg: "./runner", own: []string{"internal", "driver"}},
		{pkg: "./driver"},
		{pkg: "./internal/wire"},
		{pkg: "./imagehash", others: []string{"github.com/moby/patternmatcher"}},
		{pkg: "./backends/subprocess", own: []string{"driver", "internal"}},
		// What a sandbox receives.
		{pkg: "./runner", flags: []string{"-tags", "remotebox_runner"}, own: []string{"driver", "internal"}},
		{pkg: ".", flags: []string{"-tags", "remotebox_runner"}, own: []string{"driver", "internal", "runner"}},
	} {
		for _, dep := range deps(t, c.pkg, c.flags...) {
			allowed := dep == module+strings.TrimPrefix(c.pkg, ".")
			for _, o := range c.own {
				allowed = allowed || below(dep, module+"/"+o)
			}
			for _, o := range c.others {
				allowed = allowed || below(dep, o)
			}
			if !allowed {
				t.Errorf("%s %v links %s", c.pkg, c.flags, dep)
			}
		}
	}
}

// TestNoBackendImportsAnother checks that a program pays for the backends that it names only.
func TestNoBackendImportsAnother(t *testing.T) {
	for _, pkg := range list(t, "./backends/...") {
		for _, dep := range deps(t, pkg) {
			if backendOf(dep) != "" && backendOf(dep) != backendOf(pkg) && backendOf(dep) != "backendtest" {
				t.Errorf("%s links %s", pkg, dep)
			}
		}
	}
}

func backendOf(pkg string) string {
	rest, ok := strings.CutPrefix(pkg, module+"/backends/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// TestRunnersLinkNoHostCode checks what must never reach a sandbox: no backend value brings its
// client along.
func TestRunnersLinkNoHostCode(t *testing.T) {
	pkgs := []string{".", "./runner"}
	for _, pkg := range list(t, "./backends/...") {
		if pkg == module+"/backends/"+backendOf(pkg) {
			pkgs = append(pkgs, pkg)
		}
	}
	for _, pkg := range pkgs {
		for _, dep := range deps(t, pkg, "-tags", "remotebox_runner") {
			if !below(dep, module) {
				t.Errorf("the runner's part of %s links %s", pkg, dep)
			}
			for _, never := range []string{"build", "local", "image", "httpapi"} {
				if dep == module+"/internal/"+never {
					t.Errorf("the runner's part of %s links %s", pkg, dep)
				}
			}
		}
	}
}

func list(t *testing.T, pattern string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", pattern)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// TestRootAddsNoModule counts the modules that a program takes on by importing the root package.
func TestRootAddsNoModule(t *testing.T) {
	modules := map[string]bool{}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range strings.Fields(string(out)) {
		modules[m] = true
	}
	if len(modules) != 1 {
		t.Errorf("the root package links packages of %v", modules)
	}
}
