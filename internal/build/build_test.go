package build

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote/driver"
)

const maxHello = 3_500_000

func TestHelloIsSmallAndStatic(t *testing.T) {
	ownCache(t)
	r := mustBuild(t, mainSource(userModule(t, hello)), driver.Target{OS: "linux", Arch: "amd64"})
	info, err := os.Stat(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a hello-world runner is %d bytes", info.Size())
	if info.Size() > maxHello {
		t.Errorf("a hello-world runner is %d bytes, more than %d", info.Size(), maxHello)
	}
	f, err := elf.Open(r.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 || f.Section(".interp") != nil {
		t.Errorf("it needs %q (%v)", libs, err)
	}
}

// A runner holds the standard library and the user's packages and ours, and of ours nothing that
// only a host needs.
func TestWhatARunnerLinks(t *testing.T) {
	ownCache(t)
	g, p := planOf(t, mainSource(userModule(t, hello)))
	args := slices.Concat([]string{"list", "-deps", "-f", "{{.ImportPath}} {{.Standard}}"}, g.flags(p.overlay), p.args)
	out, err := g.run(context.Background(), p.what, args...)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		pkg, standard, _ := strings.Cut(strings.TrimSpace(line), " ")
		_, ours := relative(Module, pkg)
		if standard != "true" && !ours && pkg != "example.com/user" {
			t.Errorf("%s is neither the standard library's nor ours", pkg)
		}
		switch pkg {
		case "net/http", "net", "crypto/tls", "go/parser", "go/build", "debug/elf",
			Module + "/internal/build", Module + "/internal/local", Module + "/internal/httpapi", Module + "/internal/image":
			t.Errorf("%s is for hosts only", pkg)
		}
		if _, backend := relative(Module+"/backends", pkg); backend {
			t.Errorf("%s is a backend", pkg)
		}
	}
}

// Nothing changed: no compiling, no linking, no asking of packages.
func TestSecondBuildDoesNotLink(t *testing.T) {
	ownCache(t)
	dir := userModule(t, hello)
	calls := recordGo(t)
	for name, src := range map[string]Source{"main": mainSource(dir), "library": libSource(dir)} {
		first := mustBuild(t, src, here)
		if got := calls(); !slices.Contains(got, "build") {
			t.Fatalf("%s: the first build ran only go %q", name, got)
		}
		second := mustBuild(t, src, here)
		if got, want := calls(), []string{"env", "list"}; !slices.Equal(got, want) {
			t.Errorf("%s: the second build ran go %q, not %q", name, got, want)
		}
		if *first != *second {
			t.Errorf("%s: %v is not %v", name, second, first)
		}
	}
}

// What go.mod alone decides is in the binary as well: a cached runner must not hide it.
func TestEditsOfGoMod(t *testing.T) {
	ownCache(t)
	dir := userModule(t, hello)
	mod := filepath.Join(dir, "go.mod")
	seen := map[string]string{mustBuild(t, mainSource(dir), here).Digest: "the first"}
	for _, edit := range [][2]string{
		{"v0.0.0", "v0.0.1"},                           // the version of a module
		{"go 1.26.0", "go 1.26.0\ngodebug panicnil=1"}, // a setting of the runtime
	} {
		b, err := os.ReadFile(mod)
		if err != nil {
			t.Fatal(err)
		}
		b = bytes.ReplaceAll(b, []byte(edit[0]), []byte(edit[1]))
		if err := os.WriteFile(mod, b, 0o666); err != nil {
			t.Fatal(err)
		}
		r := mustBuild(t, mainSource(dir), here)
		if twin, dup := seen[r.Digest]; dup {
			t.Errorf("the runner after the edit to %q is %s", edit[1], twin)
		}
		seen[r.Digest] = edit[1]
	}
}

// Cross builds are the same bytes each time, from other directories and empty caches, too.
func TestCrossBuildsAreIdentical(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the standard library")
	}
	target := driver.Target{OS: "linux", Arch: "arm64"}
	digests := map[string]bool{}
	for range 2 {
		ownCache(t)
		dir := userModule(t, hello)
		for _, src := range []Source{mainSource(dir), libSource(dir)} {
			r := mustBuild(t, src, target)
			digests[r.Digest] = true
			f, err := elf.Open(r.Path)
			if err != nil {
				t.Fatal(err)
			}
			if f.Machine != elf.EM_AARCH64 {
				t.Errorf("it is for %v", f.Machine)
			}
			f.Close()
		}
		t.Setenv("GOCACHE", t.TempDir())
	}
	if len(digests) != 2 {
		t.Errorf("two programs built twice are %d different runners", len(digests))
	}
}

func TestHangingInit(t *testing.T) {
	ownCache(t)
	defer func(d time.Duration) { initTime = d }(initTime)
	initTime = 300 * time.Millisecond
	dir := userModule(t, hello+`
-- lib/wait.go --
package lib

func init() {
	println("waiting for Godot")
	select {}
}
-- lib/busy.go --
package lib

import "time"

func init() { go func() { for { time.Sleep(time.Hour) } }() }
`)
	_, err := Build(context.Background(), libSource(dir), here)
	e, ok := errors.AsType[*Error](err)
	if !ok || !strings.Contains(e.Error(), "not initialised after 300ms") || !strings.Contains(e.Log, "waiting for Godot") {
		t.Fatalf("got %v", err)
	}
}

func TestCancelledBuild(t *testing.T) {
	ownCache(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Build(ctx, mainSource(userModule(t, hello)), here); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestEndlessInit(t *testing.T) {
	ownCache(t)
	dir := userModule(t, hello+`
-- lib/talk.go --
package lib

import (
	"fmt"
	"os"
	"strings"
)

func init() {
	line := strings.Repeat("x", 1023)
	for range 100_000 {
		fmt.Fprintln(os.Stderr, line)
	}
	panic("out of breath")
}
`)
	_, err := Build(context.Background(), libSource(dir), here)
	e, ok := errors.AsType[*Error](err)
	if !ok || !strings.Contains(e.Log, "panic: out of breath") || len(e.Log) > logLimit {
		t.Fatalf("got %v", err)
	}
}

// TestTags checks that what can't be a build tag is not handed to the go command.
func TestTags(t *testing.T) {
	ownCache(t)
	for _, tag := range []string{"a b", "a,b", "", "-x"} {
		target := here
		target.Build.Tags = []string{"fine_1.2", tag}
		_, err := Build(t.Context(), mainSource(t.TempDir()), target)
		if err == nil || !strings.Contains(err.Error(), "Build.Tags: "+strconv.Quote(tag)+" is not a build tag") {
			t.Errorf("%q: %v", tag, err)
		}
	}
}
