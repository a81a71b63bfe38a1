//go:build !remotebox_runner

package build

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// hostPackage is what is needed of `go list -json`.
type hostPackage struct {
	ImportPath    string
	Name          string
	Dir           string
	GoFiles       []string
	CgoFiles      []string
	EmbedFiles    []string
	EmbedPatterns []string
	Deps          []string
	Standard      bool
	DepOnly       bool
	Incomplete    bool
	Module        *hostModule
	Error         *listError
}

type hostModule struct {
	Path, Dir string
	Main      bool
}

type listError struct {
	ImportStack []string
	Pos, Err    string
}

// reaches reports whether the package may register functions by what it imports.
func (p *hostPackage) reaches() bool { return slices.Contains(p.Deps, Module) }

func decodePackages(out []byte) ([]*hostPackage, error) {
	var all []*hostPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(hostPackage)
		if err := dec.Decode(p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// blamed is the package whose error this is: of one that is missing, the one that imports it; of
// what other modules' packages import, the last of the user's on the way there.
func (e *listError) blamed(pkg string, mine map[string]bool) string {
	if n := len(e.ImportStack); n > 0 && e.Pos != "" {
		pkg = e.ImportStack[n-1]
	}
	if mine[pkg] {
		return pkg
	}
	for i := len(e.ImportStack) - 1; i >= 0; i-- {
		if mine[e.ImportStack[i]] {
			return e.ImportStack[i]
		}
	}
	return pkg
}

// problem reads an error of go list, whose position is "file:line:column" or empty.
func (e *listError) problem(dir string) Problem {
	p := parsePosition(e.Pos, dir)
	p.Message = strings.Join(strings.Fields(e.Err), " ")
	return p
}

// parsePosition reads "file:line:column", "file:line" or "file".
func parsePosition(pos, dir string) Problem {
	var p Problem
	var numbers []int
	for len(numbers) < 2 {
		i := strings.LastIndexByte(pos, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(pos[i+1:])
		if err != nil {
			break
		}
		numbers, pos = append(numbers, n), pos[:i]
	}
	switch len(numbers) {
	case 1:
		p.Line = numbers[0]
	case 2:
		p.Column, p.Line = numbers[0], numbers[1]
	}
	if pos != "" && !filepath.IsAbs(pos) {
		pos = filepath.Join(dir, pos)
	}
	p.File = pos
	return p
}
