package build

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/remote-box/remote/driver"
)

var here = driver.Target{OS: runtime.GOOS, Arch: runtime.GOARCH}

// hello is a module with the smallest useful function, in a package main and in a library.
const hello = `
-- main.go --
package main

import (
	"context"
	"fmt"

	"github.com/remote-box/remote"
)

type input struct{ Name string }

type output struct{ Greeting string }

func greet(ctx context.Context, in input) (output, error) {
	return output{"Hello " + in.Name + "!"}, nil
}

var Greet = remote.New(greet)

func main() {
	out, err := Greet.Call(context.Background(), input{"World"})
	fmt.Println(out.Greeting, err)
}
-- lib/lib.go --
package lib

import (
	"context"

	"github.com/remote-box/remote"
)

func f(_ context.Context, in int) (int, error) { return in, nil }

var F = remote.New(f)
`

// userModule writes a module that uses this one and returns its directory.
func userModule(t testing.TB, files string) string {
	t.Helper()
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	archive := txtar.Parse([]byte(files))
	archive.Files = append(archive.Files, txtar.File{Name: "go.mod", Data: []byte(
		"module example.com/user\n\ngo 1.26.0\n\nrequire " + Module + " v0.0.0\n\nreplace " + Module + " => " + repo + "\n",
	)})
	for _, f := range archive.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ownCache gives the test a cache of its own, and an environment that asks for nothing.
func ownCache(t testing.TB) {
	t.Setenv("REMOTE_BOX_CACHE", t.TempDir())
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
}

func mainSource(dir string) Source {
	return Source{Root: dir, Dir: dir, Package: "example.com/user", Main: true, Tags: []string{}}
}

func libSource(dir string) Source {
	return Source{Root: dir, Package: "example.com/user/lib", Tags: []string{}}
}

func mustBuild(t testing.TB, src Source, target driver.Target) *Runner {
	t.Helper()
	r, err := Build(context.Background(), src, target)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// planOf is what Build would build, in a working directory that lasts for the test.
func planOf(t testing.TB, src Source) (*goCommand, *planned) {
	t.Helper()
	ctx := context.Background()
	c, err := openCache()
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGo(ctx, t.TempDir(), src, here)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan(ctx, g, c, src)
	if err != nil {
		t.Fatal(err)
	}
	return g, p
}

// recordGo puts a go command first on PATH that notes how it is called, and returns a function
// that tells how it was since it was last asked.
func recordGo(t *testing.T) func() []string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the go command that records is a shell script")
	}
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\necho \"$1\" >>'" + log + "'\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() []string {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(b))
	}
}
