//go:build !remotebox_runner

package build

import (
	"debug/elf"
	"debug/gosym"
	"debug/macho"
	"path"
	"path/filepath"
	"slices"
)

// FilesBeside are the names of the Go files that left code in a program and that the compiler knew
// in the same directory as file. It finds none where the program's format is not known: then the
// declarations must do.
func FilesBeside(program, file string) []string {
	table, err := gosym.NewTable(nil, gosym.NewLineTable(lineTable(program), 0))
	if err != nil {
		return nil
	}
	dir := path.Dir(filepath.ToSlash(file))
	var names []string
	for name := range table.Files {
		if path.Dir(filepath.ToSlash(name)) == dir && path.Ext(name) == ".go" {
			names = append(names, path.Base(filepath.ToSlash(name)))
		}
	}
	slices.Sort(names)
	return names
}

// lineTable is what a program knows of its sources; no option of the linker leaves it out.
func lineTable(program string) []byte {
	if f, err := elf.Open(program); err == nil {
		defer f.Close()
		for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
			if s := f.Section(name); s != nil {
				b, _ := s.Data()
				return b
			}
		}
	}
	if f, err := macho.Open(program); err == nil {
		defer f.Close()
		if s := f.Section("__gopclntab"); s != nil {
			b, _ := s.Data()
			return b
		}
	}
	return nil
}
