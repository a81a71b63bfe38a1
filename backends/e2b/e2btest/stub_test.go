//go:build linux && !remotebox_runner

package e2btest_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestStub checks that what programs can name of this package is there in a runner too, so that one
// whose main package has functions and starts a server can be compiled for its sandboxes.
func TestStub(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "remotebox_runner", ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	host, runner := exported(t), exported(t, "remotebox_runner")
	for _, name := range slices.Sorted(maps.Keys(host)) {
		if !runner[name] {
			t.Errorf("a runner lacks %s", name)
		}
	}
	if len(host) < 50 {
		t.Errorf("only %d names were found", len(host))
	}
}

// exported are the names that the package exports, of methods and fields too.
func exported(t *testing.T, tags ...string) map[string]bool {
	t.Helper()
	ctx := build.Default
	ctx.BuildTags = tags
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	add := func(owner string, ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names[owner+id.Name] = true
			}
		}
	}
	for _, name := range files {
		if ok, err := ctx.MatchFile(".", name); err != nil || !ok || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				owner := ""
				if d.Recv != nil {
					of := d.Recv.List[0].Type
					if star, ok := of.(*ast.StarExpr); ok {
						of = star.X
					}
					id, ok := of.(*ast.Ident)
					if !ok || !id.IsExported() {
						continue
					}
					owner = id.Name + "."
				}
				add(owner, d.Name)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						add("", spec.Names...)
					case *ast.TypeSpec:
						add("", spec.Name)
						if s, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() {
							for _, f := range s.Fields.List {
								add(spec.Name.Name+".", f.Names...)
							}
						}
					}
				}
			}
		}
	}
	return names
}
