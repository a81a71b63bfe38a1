//go:build !remotebox_runner

package build

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// mayRegister reports whether the files of a main package can do anything while it initialises:
// only an init function, or a call in the value of a package variable, registers a function. Most
// main packages have neither, and no program need be built of them.
func mayRegister(files []string) bool {
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return true // the compiler will say
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					return true
				}
			case *ast.GenDecl:
				if d.Tok == token.VAR && calls(d) {
					return true
				}
			}
		}
	}
	return false
}

func calls(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		_, call := n.(*ast.CallExpr)
		found = found || call
		return !found
	})
	return found
}
