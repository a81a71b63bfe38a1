//go:build !remotebox_runner

package build

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
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
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf")) // a byte order mark, which may only stand first
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
		// As the bytes are, whatever //line directives say; what follows keeps its column.
		end := fset.PositionFor(fn.Name.End(), false).Offset
		name, at := "remotebox_main", fset.Position(fn.Name.End())
		if at.Column > 0 {
			name += fmt.Sprintf("/*line :%d:%d*/", at.Line, at.Column)
		}
		renamed := slices.Concat(src[:end-len("main")], []byte(name), src[end:])
		return renamed, true, nil
	}
	return nil, false, nil
}

// closure is the given files of a directory and those beside them that declare what they use: the
// files that must have been named together for the program to be built, when only those are known
// that left code in it.
func closure(c *build.Context, files []string) ([]string, error) {
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
		named := slices.Contains(files, file)
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if ok, err := c.MatchFile(dir, filepath.Base(file)); !named && (err != nil || !ok) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if f == nil || f.Name.Name != "main" {
			if named && err != nil {
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
	if main := decls["main"]; len(main) == 1 && !slices.Contains(found, main[0]) {
		found = append(found, main[0])
	}
	for i := 0; i < len(found); i++ {
		for _, name := range uses[found[i]] {
			// A name that two files declare was in one that is known already.
			if in := decls[name]; len(in) == 1 && !slices.Contains(found, in[0]) {
				found = append(found, in[0])
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
