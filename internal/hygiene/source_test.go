package hygiene

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxLines is how long a file may be.
const maxLines = 800

// sources calls f for every Go file of the repository, tests and generated files left out.
func sources(t *testing.T, f func(path string, file *ast.File, src []byte)) {
	t.Helper()
	root := "../.."
	n := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ParseComments)
		if err != nil {
			return err
		}
		if ast.IsGenerated(file) {
			return nil
		}
		n++
		f(path, file, src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 50 {
		t.Fatalf("only %d files were found", n)
	}
}

// TestNoInit holds two rules at once: nothing happens by import, and files keep a size at which
// they are one noun.
func TestNoInit(t *testing.T) {
	sources(t, func(path string, file *ast.File, src []byte) {
		if n := bytes.Count(src, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines", path, n)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function", path)
			}
		}
	})
}

// TestPackageComments checks that every package has exactly one package comment.
func TestPackageComments(t *testing.T) {
	comments, packages := map[string][]string{}, map[string]bool{}
	sources(t, func(path string, file *ast.File, _ []byte) {
		pkg := filepath.Dir(path) + " " + strings.TrimSuffix(file.Name.Name, "_test")
		packages[pkg] = true
		if file.Doc != nil && strings.TrimSpace(file.Doc.Text()) != "" {
			comments[pkg] = append(comments[pkg], path)
		}
	})
	for pkg := range packages {
		if n := len(comments[pkg]); n != 1 {
			t.Errorf("package %s has %d package comments: %v", pkg, n, comments[pkg])
		}
	}
}

// TestReadmeOpensWithTheQuickstart checks that the README's program is the one that is tested.
func TestReadmeOpensWithTheQuickstart(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("../../examples/quickstart/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, ok := bytes.Cut(readme, []byte("```go\n"))
	code, _, ok2 := bytes.Cut(code, []byte("```\n"))
	if !ok || !ok2 || !bytes.Equal(code, program) {
		t.Error("the README's first program is not examples/quickstart/main.go")
	}
}
