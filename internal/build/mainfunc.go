//go:build !remotebox_runner

package build

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// renameMain returns a copy of a file in which the main function has another name. ok is false if
// the file declares none.
func renameMain(file string) (src []byte, ok bool, err error) {
	src, err = os.ReadFile(file)
	if err != nil {
		return nil, false, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.SkipObjectResolution)
	if f == nil {
		return nil, false, err
	}
	for _, d := range f.Decls {
		fn, isFunc := d.(*ast.FuncDecl)
		if !isFunc || fn.Recv != nil || fn.Name.Name != "main" {
			continue
		}
		at := fset.Position(fn.Name.Pos()).Offset
		renamed := slices.Concat(src[:at], []byte("remotebox_main"), src[at+len("main"):])
		return renamed, true, nil
	}
	return nil, false, nil
}

// closure is the given files of a directory and those beside them that declare what they use: the
// files that must have been named together for the program to be built, when only those that
// register functions are known.
func closure(files []string) ([]string, error) {
	if len(files) == 0 {
		return nil, errNoSource
	}
	dir := filepath.Dir(files[0])
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	decls := map[string][]string{} // name → files that declare it
	uses := map[string][]string{}  // file → names
	for _, file := range all {
		if strings.HasSuffix(file, "_test.go") || !slices.Contains(files, file) && !matches(dir, filepath.Base(file)) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if f == nil || f.Name.Name != "main" {
			if slices.Contains(files, file) && err != nil {
				return nil, err
			}
			continue
		}
		for name := range f.Scope.Objects {
			decls[name] = append(decls[name], file)
		}
		for _, id := range f.Unresolved {
			uses[file] = append(uses[file], id.Name)
		}
	}
	found := slices.Clone(files)
	hasMain := false
	for i := 0; i < len(found); i++ {
		hasMain = hasMain || slices.Contains(decls["main"], found[i])
		for _, name := range uses[found[i]] {
			for _, file := range decls[name] {
				if !slices.Contains(found, file) && len(decls[name]) == 1 {
					found = append(found, file)
				}
			}
		}
		if i == len(found)-1 && !hasMain && len(decls["main"]) == 1 {
			found = append(found, decls["main"][0])
			hasMain = true
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// isGo reports whether a file name can matter to a build.
func isGo(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".s", ".c", ".h", ".cc", ".cpp", ".mod", ".sum", ".work":
		return true
	}
	return name == "modules.txt"
}
