//go:build !remotebox_runner

package build

import "strings"

// parseLog reads what the go command says of packages that do not compile: the compiler's lines,
// under the name of their package. Lines without a position belong to the problem before them.
func parseLog(log, dir string) []BrokenPackage {
	var broken []BrokenPackage
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		if pkg, ok := strings.CutPrefix(line, "# "); ok {
			// Of a package that is compiled for another one: "# pkg [other]".
			pkg, _, _ = strings.Cut(pkg, " ")
			broken = append(broken, BrokenPackage{Package: pkg})
			continue
		}
		if p, ok := parseProblem(line, dir); ok && len(broken) > 0 {
			b := &broken[len(broken)-1]
			b.Problems = append(b.Problems, p)
		} else if len(broken) > 0 && strings.HasPrefix(line, "\t") {
			if b := &broken[len(broken)-1]; len(b.Problems) > 0 {
				b.Problems[len(b.Problems)-1].Message += "\n" + line
			}
		}
	}
	return broken
}

// parseProblem reads "file:line:column: message".
func parseProblem(line, dir string) (Problem, bool) {
	pos, message, ok := strings.Cut(line, ": ")
	if !ok {
		return Problem{}, false
	}
	p := parsePosition(pos, dir)
	p.Message = message
	return p, p.Line > 0
}
