package image

import (
	"context"
	"debug/buildinfo"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/build"
)

// fakeProgram has a runner that was made before.
type fakeProgram struct {
	root, runner string
	locked       map[string]string
}

func (fakeProgram) Name() string { return "example.com/m" }

func (p fakeProgram) Root() (string, error) {
	if p.root == "" {
		return "", errors.New("no sources")
	}
	return p.root, nil
}

func (p fakeProgram) Runner(context.Context, driver.Target) (string, error) { return p.runner, nil }

func (p fakeProgram) Locked(backend, prefix string) (string, bool, error) {
	name, ok := p.locked[backend+" "+prefix]
	return name, ok, nil
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tree is a module whose Dockerfile is used.
var tree = map[string]string{
	"Dockerfile":          "FROM scratch\n",
	".dockerignore":       "ignored\n*.log\n",
	"main.go":             "package main\n",
	"assets/data.txt":     "data\n",
	"ignored/file.txt":    "ignored\n",
	"debug.log":           "ignored\n",
	".env":                "KEY=secret\n",
	".git/HEAD":           "ref\n",
	"node_modules/a/a.js": "a\n",
}

// sample is a program with that tree, and settings.
func sample(t *testing.T) (fakeProgram, Settings) {
	t.Helper()
	root := t.TempDir()
	write(t, root, tree)
	runner := filepath.Join(t.TempDir(), "runner")
	if err := os.WriteFile(runner, []byte("runner"), 0o700); err != nil {
		t.Fatal(err)
	}
	return fakeProgram{root: root, runner: runner}, Settings{
		Backend: "fake", Prefix: "p", Dockerfile: "Dockerfile", Target: driver.Target{OS: "linux", Arch: "amd64"},
		Baked: map[string]string{"cpu": "2", "memory": "4GiB"},
	}
}

func nameOf(t *testing.T, p driver.Program, s Settings) string {
	t.Helper()
	img, err := Compute(t.Context(), p, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return img.Name
}

// TestWhatDecidesTheName changes one thing at a time: what could be in the image, and what can't.
func TestWhatDecidesTheName(t *testing.T) {
	edit := func(name, content string) func(*testing.T, *fakeProgram, *Settings) {
		return func(t *testing.T, p *fakeProgram, _ *Settings) { write(t, p.root, map[string]string{name: content}) }
	}
	remove := func(name string) func(*testing.T, *fakeProgram, *Settings) {
		return func(t *testing.T, p *fakeProgram, _ *Settings) {
			if err := os.Remove(filepath.Join(p.root, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	set := func(f func(*Settings)) func(*testing.T, *fakeProgram, *Settings) {
		return func(_ *testing.T, _ *fakeProgram, s *Settings) { f(s) }
	}
	for _, c := range []struct {
		what    string
		change  func(*testing.T, *fakeProgram, *Settings)
		renamed bool
	}{
		{"a source file", edit("main.go", "package main // changed\n"), true},
		{"a file for COPY", edit("assets/data.txt", "changed\n"), true},
		{"a new file", edit("assets/new.txt", "new\n"), true},
		{"a file that is gone", remove("assets/data.txt"), true},
		{"the Dockerfile", edit("Dockerfile", "FROM scratch\nCOPY assets /\n"), true},
		{"the ignore file", edit(".dockerignore", "ignored\n*.log\nassets\n"), true},
		{"a mode", func(t *testing.T, p *fakeProgram, _ *Settings) {
			if err := os.Chmod(filepath.Join(p.root, "assets/data.txt"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, runtime.GOOS != "windows"},
		{"the runner", func(t *testing.T, p *fakeProgram, _ *Settings) {
			write(t, filepath.Dir(p.runner), map[string]string{"other": "another runner"})
			p.runner = filepath.Join(filepath.Dir(p.runner), "other")
		}, true},
		{"the cpu", set(func(s *Settings) { s.Baked["cpu"] = "4" }), true},
		{"the memory", set(func(s *Settings) { s.Baked["memory"] = "8GiB" }), true},
		{"a setting more", set(func(s *Settings) { s.Baked["disk"] = "1GiB" }), true},
		{"a value that moves to another setting", set(func(s *Settings) { s.Baked = map[string]string{"cpu": "4GiB", "memory": "2"} }), true},
		{"the architecture", set(func(s *Settings) { s.Target.Arch = "arm64" }), true},
		{"no Dockerfile", set(func(s *Settings) { s.Dockerfile = "" }), true},

		{"nothing", func(*testing.T, *fakeProgram, *Settings) {}, false},
		{"an ignored file", edit("ignored/file.txt", "changed\n"), false},
		{"a new ignored file", edit("trace.log", "new\n"), false},
		{"a secret", edit(".env", "KEY=changed\n"), false},
		{"version control", edit(".git/HEAD", "changed\n"), false},
		{"installed packages", edit("node_modules/a/a.js", "changed\n"), false},
		{"the lock", edit("remote-box.lock.json", "{}\n"), false},
		{"the word on building", set(func(s *Settings) { s.AutoBuild = new(bool) }), false},
		{"another machine's directories", func(t *testing.T, p *fakeProgram, _ *Settings) {
			other, _ := sample(t)
			*p = other
		}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			p, s := sample(t)
			before := nameOf(t, p, s)
			s.Baked = maps.Clone(s.Baked)
			c.change(t, &p, &s)
			if after := nameOf(t, p, s); (after != before) != c.renamed {
				t.Errorf("the image was %s and is %s; renamed: %t, want %t", before, after, after != before, c.renamed)
			}
		})
	}
}

// TestPrefixIsBesideTheIdentity checks that images of two prefixes differ by it alone, and that
// locks find it.
func TestPrefixIsBesideTheIdentity(t *testing.T) {
	p, s := sample(t)
	one, err := Compute(t.Context(), p, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Prefix = "q"
	two, err := Compute(t.Context(), p, s, func(prefix, identity string) string { return prefix + "/" + identity })
	if err != nil {
		t.Fatal(err)
	}
	if one.Identity != two.Identity || one.Name != "p-"+one.Identity || two.Name != "q/"+one.Identity {
		t.Errorf("the images are %s and %s", one.Name, two.Name)
	}
	var prefix string
	for _, part := range two.Parts {
		if part.Name == driver.PrefixPart {
			prefix = part.Value
		}
	}
	if prefix != "q" {
		t.Errorf("the part %s is %q", driver.PrefixPart, prefix)
	}
}

// builtProgram has a runner that is built of a module on disk.
type builtProgram struct {
	fakeProgram
	root string
}

func (p builtProgram) Root() (string, error) { return p.root, nil }

func (p builtProgram) Runner(ctx context.Context, t driver.Target) (string, error) {
	r, err := build.Build(ctx, build.Source{Root: p.root, Package: "example.com/m/tasks", Dir: filepath.Join(p.root, "tasks"), Tags: []string{}}, t)
	if err != nil {
		return "", err
	}
	return r.Path, nil
}

// TestWhatDecidesTheRunner builds real runners: of a module that replaces another by a directory
// beside it.
func TestWhatDecidesTheRunner(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds runners")
	}
	t.Setenv("REMOTE_BOX_CACHE", t.TempDir())
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	module := func() builtProgram {
		dir := t.TempDir()
		write(t, dir, map[string]string{
			"m/go.mod": "module example.com/m\n\ngo 1.26.0\n\nrequire (\n\tgithub.com/remote-box/remote v0.0.0\n\texample.com/lib v0.0.0\n)\n\n" +
				"replace github.com/remote-box/remote => " + repo + "\n\nreplace example.com/lib => ../lib\n",
			"m/tasks/tasks.go": "package tasks\n\nimport (\n\t\"context\"\n\n\t\"example.com/lib\"\n\t\"github.com/remote-box/remote\"\n)\n\n" +
				"func answer(context.Context, int) (int, error) { return lib.Answer, nil }\n\nvar Answer = remote.New(answer)\n",
			"m/unrelated/unrelated.go": "package unrelated\n",
			"m/tasks/tasks_test.go":    "package tasks\n",
			"lib/go.mod":               "module example.com/lib\n\ngo 1.26.0\n",
			"lib/lib.go":               "package lib\n\nvar Answer = 42\n",
		})
		return builtProgram{root: filepath.Join(dir, "m")}
	}
	p := module()
	s := Settings{Backend: "fake", Prefix: "p", Target: driver.Target{OS: "linux", Arch: "amd64"}}
	before := nameOf(t, p, s)
	if other := nameOf(t, module(), s); other != before {
		t.Errorf("in another directory the image is %s, not %s", other, before)
	}
	write(t, p.root, map[string]string{
		"unrelated/unrelated.go": "package unrelated\n\nvar X = 1\n", "tasks/tasks_test.go": "package tasks\n\nvar x = 1\n", "README.md": "changed\n",
	})
	if after := nameOf(t, p, s); after != before {
		t.Errorf("what is in no runner changed the image from %s to %s", before, after)
	}
	write(t, filepath.Dir(p.root), map[string]string{"lib/lib.go": "package lib\n\nvar Answer = 43\n"})
	if nameOf(t, p, s) == before {
		t.Errorf("the replaced module changed, and the image is still %s", before)
	}
	// The toolchain is in the runner, so that another one makes another.
	runner, err := p.Runner(t.Context(), s.Target)
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(runner)
	if err != nil || !strings.HasPrefix(info.GoVersion, "go1.") {
		t.Errorf("the runner does not say which toolchain made it: %v, %v", info, err)
	}
}
