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
	may, _ := initWork(files)
	return may
}

// initWork reports whether the files of a package may do something while it initialises, and
// whether it is certain that they do: they declare an init function.
func initWork(files []string) (may, certain bool) {
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			may = true // the compiler will say
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					return true, true
				}
			case *ast.GenDecl:
				may = may || d.Tok == token.VAR && calls(d)
			}
		}
	}
	return may, false
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
