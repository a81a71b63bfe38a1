package remote

import (
	"strings"

	"github.com/remote-box/remote/internal/registry"
)

// program is what a runner is built from: the functions of one module, or of a main package and
// everything that it imports. It implements driver.Program.
type program struct {
	f *registry.Function // one of its functions
}

// programOf chooses the program for a session, which may see calls of any function: the main
// package's if it registers functions, because it has all the others linked in, else that of f,
// else any. In a test the package under test may be a main package. nil means that there is no
// function to choose by.
func programOf(f *registry.Function) *program {
	if f != nil && inTestFile(f) {
		return &program{f} // whose error says what to do
	}
	all := registry.All()
	for _, r := range all {
		switch {
		case inTestFile(r):
		case r.Main || r.Package == registry.MainPath():
			return &program{r}
		case f == nil:
			f = r
		}
	}
	if f == nil && len(all) > 0 {
		f = all[0]
	}
	if f == nil {
		return nil
	}
	return &program{f}
}

// inTestFile reports whether f is declared in a file that only a test binary is built from.
func inTestFile(f *registry.Function) bool { return strings.HasSuffix(f.File, "_test.go") }

// building is the end of a caller's patience, not of the build.
type building struct{ err error }

func (e *building) Error() string { return "building the runner: " + e.err.Error() }
func (e *building) Unwrap() error { return e.err }
