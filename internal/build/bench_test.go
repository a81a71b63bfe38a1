package build

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
)

// BenchmarkBuild compares a build with nothing changed to the go command's own: the same main
// package, flags and overlay.
func BenchmarkBuild(b *testing.B) {
	for _, kind := range []struct {
		name   string
		source func(dir string) Source
	}{{"main", mainSource}, {"library", libSource}} {
		b.Run(kind.name, func(b *testing.B) {
			ownCache(b)
			src := kind.source(userModule(b, hello))
			mustBuild(b, src, here)
			b.Run("noop-go-build", func(b *testing.B) {
				g, p := planOf(b, src)
				args := slices.Concat([]string{"build", "-o", filepath.Join(b.TempDir(), "runner")}, g.flags(p.overlay), p.args)
				for b.Loop() {
					if _, err := g.run(context.Background(), p.what, args...); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("second-build", func(b *testing.B) {
				for b.Loop() {
					mustBuild(b, src, here)
				}
			})
		})
	}
}
