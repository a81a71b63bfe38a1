package remote

import (
	"github.com/remote-box/remote/internal/registry"
)

// program is what a runner is built from: the functions of one module, or of a main package and
// everything that it imports. It implements driver.Program.
type program struct {
	f *registry.Function // one of its functions
}

// programOf chooses the program for a session, which may see calls of any function: the main
// package's if it registers functions, because it has all the others linked in, else that of f.
// nil means that there is no function to choose by.
func programOf(f *registry.Function) *program {
	var first *registry.Function
	for _, r := range registry.All() {
		if r.Main {
			return &program{r}
		}
		if first == nil {
			first = r
		}
	}
	if f == nil {
		f = first
	}
	if f == nil {
		return nil
	}
	return &program{f}
}
