package build

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseFlags(t *testing.T) {
	for in, want := range map[string]map[string]string{
		"":                                 {},
		" -mod=mod  --tags=a,b ":           {"mod": "mod", "tags": "a,b"},
		`"-tags=a b" '-modfile=x y' -race`: {"tags": "a b", "modfile": "x y", "race": ""},
		`'-tags=unterminated`:              {"tags": "unterminated"},
		"-tags=first -tags=last":           {"tags": "last"},
	} {
		if got := parseFlags(in); !maps.Equal(got, want) {
			t.Errorf("parseFlags(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := splitTags("a,b c,"), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("splitTags = %q, want %q", got, want)
	}
}

func TestTail(t *testing.T) {
	if got := tail(" all \n", 10); got != "all" {
		t.Errorf("tail = %q", got)
	}
	if got, want := tail("first line\nsecond\nthird", 15), "…\nsecond\nthird"; got != want {
		t.Errorf("tail = %q, want %q", got, want)
	}
}

func TestLastBytes(t *testing.T) {
	var l lastBytes
	all := strings.Repeat("0123456789", 10_000)
	for rest := all; rest != ""; {
		n := min(len(rest), 777)
		l.Write([]byte(rest[:n]))
		rest = rest[n:]
		if len(l) > 6*lastLimit {
			t.Fatalf("it keeps %d bytes", len(l))
		}
	}
	l.Write([]byte(all))
	if len(l) < lastLimit || !strings.HasSuffix(all, string(l[len(l)-lastLimit:])) {
		t.Errorf("it kept %d bytes, which are not the end", len(l))
	}
}

// Where a program's format is not known, declarations tell which files belong together.
func TestClosure(t *testing.T) {
	dir := t.TempDir()
	for name, src := range map[string]string{
		"f.go":         "package main\nvar f = remoteNew(g)\n",
		"g.go":         "package main\nfunc g() { h[T]() }\n",
		"types.go":     "package main\ntype T int\nfunc h[P any]() {}\n",
		"main.go":      "package main\nfunc main() {}\n",
		"unused.go":    "package main\nfunc unused() {}\n",
		"twice1.go":    "package main\nfunc remoteNew(func()) int { return 1 }\n",
		"twice2.go":    "package main\nfunc remoteNew(func()) int { return 2 }\n",
		"ignored.go":   "//go:build ignore\n\npackage main\nfunc main() {}\n",
		"f_test.go":    "package main\nfunc g() {}\n",
		"other_pkg.go": "package other\nfunc g() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(src), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	g := &goCommand{target: here, version: runtime.Version()}
	got, err := closure(g.buildContext(), []string{filepath.Join(dir, "f.go"), filepath.Join(dir, "twice2.go")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		got[i] = filepath.Base(got[i])
	}
	if want := []string{"f.go", "g.go", "main.go", "twice2.go", "types.go"}; !slices.Equal(got, want) {
		t.Errorf("closure = %q, want %q", got, want)
	}
	if _, err := closure(g.buildContext(), nil); err == nil {
		t.Error("no files are a program")
	}
}

func TestRenameMain(t *testing.T) {
	for in, want := range map[string]string{
		"package main\nfunc main() {}\n":                       "package main\nfunc remotebox_main/*line :2:10*/() {}\n",
		"\xef\xbb\xbfpackage main\nfunc main() {}\n":           "package main\nfunc remotebox_main/*line :2:10*/() {}\n",
		"package main\ntype T int\nfunc (T) main() {}\n":       "",
		"package main\nvar main = 1\n":                         "",
		"package main\n//line tmpl.x:40\nfunc main() { x( }\n": "package main\n//line tmpl.x:40\nfunc remotebox_main() { x( }\n",
	} {
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte(in), 0o666); err != nil {
			t.Fatal(err)
		}
		got, ok, err := renameMain(file)
		if err != nil || ok != (want != "") || ok && string(got) != want {
			t.Errorf("renameMain(%q) = %q, %t, %v, want %q", in, got, ok, err, want)
		}
	}
}

// This test's own files left code in this test's program.
func TestFilesBeside(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	_, file, _, _ := runtime.Caller(0)
	got := FilesBeside(exe, file)
	if runtime.GOOS == "windows" {
		return // not known there, and not needed
	}
	for _, name := range []string{"build.go", "unit_test.go"} {
		if !slices.Contains(got, name) {
			t.Errorf("%q is without %s", got, name)
		}
	}
	if got := FilesBeside(file, file); got != nil {
		t.Errorf("a file that is no program was built from %q", got)
	}
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	ownCache(t)
	c, err := openCache()
	if err != nil {
		t.Fatal(err)
	}
	runner := func(key string) *Runner {
		work, err := c.workDir()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(work, "runner")
		if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := c.add(key, path)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	used, unused := runner("used"), runner("unused")
	age := func(path string) {
		old := time.Now().Add(-unusedFor - time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{used.Path, unused.Path, filepath.Join(c.dir, linksDir, "used"), filepath.Join(c.dir, linksDir, "unused")} {
		age(path)
	}
	entries, err := filepath.Glob(filepath.Join(c.dir, workDirs+"*"))
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	age(entries[0])

	if r, ok := c.linked("used"); !ok || *r != *used {
		t.Fatalf("linked = %v, %t", r, ok)
	}
	runner("another")
	if !used.Use() {
		t.Error("a runner that is used was removed")
	}
	if unused.Use() {
		t.Error("a runner that was not used is still there")
	}
	if _, ok := c.linked("unused"); ok {
		t.Error("it is still found")
	}
	if _, err := os.Stat(entries[0]); err == nil {
		t.Error("what a killed build left is still there")
	}
	if _, err := os.Stat(entries[1]); err != nil {
		t.Error("the directory of a build under way was removed")
	}
}

func TestCacheDirectory(t *testing.T) {
	t.Setenv("REMOTE_BOX_CACHE", "relative")
	if _, err := openCache(); err == nil || !strings.Contains(err.Error(), "not an absolute path") {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("REMOTE_BOX_CACHE", file)
	if _, err := openCache(); err == nil || !strings.Contains(err.Error(), "set REMOTE_BOX_CACHE") {
		t.Errorf("got %v", err)
	}
}
