package imagehash

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDockerignore(t *testing.T) {
	tests := []struct {
		name   string
		ignore string
		files  []string
		want   []string
	}{
		{"no pattern", "\n# comment\n", []string{"a"}, []string{"a"}},
		{"anchored at the root", "a", []string{"a", "sub/a"}, []string{"sub/", "sub/a"}},
		{"leading slash", "/a", []string{"a", "sub/a"}, []string{"sub/", "sub/a"}},
		{"trailing slash names files too", "a/\n", []string{"a", "b"}, []string{"b"}},
		{"path is cleaned", "./x/../a//b/.\n", []string{"a/b", "a/c"}, []string{"a/", "a/c"}},
		{"directory covers what is below", "a", []string{"a/b/c", "ab"}, []string{"ab"}},
		{"star stops at a slash", "*.md", []string{"x.md", "sub/x.md", ".md"}, []string{"sub/", "sub/x.md"}},
		{"star below", "*/x.md", []string{"x.md", "sub/x.md", "a/b/x.md"}, []string{"a/", "a/b/", "a/b/x.md", "sub/", "x.md"}},
		{"two stars span", "**/*.md", []string{"x.md", "sub/x.md", "a/b/x.md", "a/y"}, []string{"a/", "a/b/", "a/y", "sub/"}},
		{"two stars inside", "a/**/z", []string{"a/z", "a/b/z", "a/b/c/z", "z"}, []string{"a/", "a/b/", "a/b/c/", "z"}},
		{"two stars at the end spare the directory", "a/**", []string{"a/b", "a/c/d"}, []string{"a/"}},
		{"one star at the end spares the directory", "a/*", []string{"a/b", "a/c/d"}, []string{"a/"}},
		{"question mark", "?", []string{"a", "é", "ab"}, []string{"ab"}},
		{"class", "[a-c]", []string{"a", "c", "d"}, []string{"d"}},
		{"negated class", "[^a-c]", []string{"a", "d"}, []string{"a"}},
		{"case counts", "A", []string{"a"}, []string{"a"}},
		{"everything", "*", []string{"a", "b/c"}, []string{}},
		{"everything, spelled otherwise", "**", []string{"a", "b/c"}, []string{}},
		{"dot excludes nothing", ".\n/\n", []string{"a"}, []string{"a"}},
		{"outside excludes nothing", "../a\n..", []string{"a"}, []string{"a"}},

		{"exception", "*\n!a", []string{"a", "b"}, []string{"a"}},
		{"exception brings its parents", "*\n!a/b/c", []string{"a/b/c", "a/b/d", "a/e"}, []string{"a/", "a/b/", "a/b/c"}},
		{"exception for a directory covers what is below", "*\n!a", []string{"a/b/c", "d"}, []string{"a/", "a/b/", "a/b/c"}},
		{"exception for an empty directory", "*\n!a", []string{"a/", "b/"}, []string{"a/"}},
		{"exception deep below", "a\n!a/**/*.go", []string{"a/x", "a/b/c/x.go", "a/b/d/x"}, []string{"a/", "a/b/", "a/b/c/", "a/b/c/x.go"}},
		{"last match wins", "*.md\n!README*.md\nREADME-secret.md", []string{"x.md", "README.md", "README-secret.md"}, []string{"README.md"}},
		{"exception in the middle has no effect", "*.md\n!a.md\n*.md", []string{"a.md"}, []string{}},
		{"exception before its rule", "!a\na", []string{"a"}, []string{}},
		{"exception with a space", "*\n!  a\n", []string{"a", "b"}, []string{"a"}},
		{"exception with a slash", "*\n!/a", []string{"a", "b"}, []string{"a"}},
		// The walk decides, as in BuildKit: "a*" is not asked about directory a, which "a" excludes already, and does not
		// match a/b, so that the exception stands.
		{"rule after the exception matches its directory only", "a\n!a/b\na*", []string{"a/b", "a/c"}, []string{"a/", "a/b"}},

		// For the same reason the exception of a directory that nothing excludes has no effect on what is in it.
		{"exception for the directory of an excluded file", "**/*.log\n!dir", []string{"dir/a", "dir/b.log"}, []string{"dir/", "dir/a"}},

		{"carriage returns", "a\r\n!b\r\n# x\r\nb*\r\n", []string{"a", "b", "c"}, []string{"c"}},
		{"byte order mark", "\xef\xbb\xbfa\n", []string{"a", "b"}, []string{"b"}},
		{"byte order mark before a comment", "\xef\xbb\xbf# a\nb", []string{"a", "b"}, []string{"a"}},
		{"space around", " \ta \t\nb", []string{"a", "b", "a "}, []string{"a "}},
		{"space inside", "a b", []string{"a b", "a"}, []string{"a"}},
		{"trailing space cannot be escaped", "a[ ]", []string{"a ", "a"}, []string{"a"}},
		{"comment", "#a", []string{"#a", "a"}, []string{"#a", "a"}},
		{"space makes a comment a pattern", " #a", []string{"#a", "a"}, []string{"a"}},
		{"comment does not end a pattern", "a # b", []string{"a", "a # b"}, []string{"a"}},
		{"escaped hash", `\#a`, []string{"#a", `\#a`}, []string{`\#a`}},
		{"escaped bang", `\!a`, []string{"!a", "a"}, []string{"a"}},
		{"two bangs", "*\n!!a", []string{"!a", "a"}, []string{"!a"}},
		{"escaped star", `x\*y`, []string{"x*y", "xay"}, []string{"xay"}},
		{"braces are letters", "{a,b}", []string{"a", "{a,b}"}, []string{"a"}},
		// The matcher is a regular expression underneath, and these reach it.
		{"escaped letters are classes", "*\n!\\d/x", []string{"5/x", "d/x"}, []string{"5/", "5/x"}},
		{"braces count beside a wildcard", "*\n!a{2}/?", []string{"aa/b", "a{2}/b"}, []string{"aa/", "aa/b"}},
		{"replacement character", "*\n!\uFFFD/?", []string{"\xff/b", "c/b"}, []string{"\xff/", "\xff/b"}},
		{"no newline at the end", "a\nb", []string{"a", "b", "c"}, []string{"c"}},

		{"itself and the Dockerfile", "Dockerfile\n.dockerignore", []string{"Dockerfile", "a"}, []string{"a"}},
		{"a symlink by its own name", "l\nt/x", []string{"l -> t", "t/x", "m -> t"}, []string{"m -> t", "t/"}},
		{"nested ignore files mean nothing", "", []string{"sub/.dockerignore", "sub/a"}, []string{"sub/", "sub/.dockerignore", "sub/a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := lay(t, test.files...)
			write(t, root, ignoreName, test.ignore)
			if diff := cmp.Diff(test.want, paths(mustWalk(t, root, Options{}))); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDockerignoreIsAFileOfTheContext(t *testing.T) {
	root := lay(t, "Dockerfile", "a")
	write(t, root, ignoreName, "# says nothing")
	var got []string
	for e := range mustWalk(t, root, Options{}).Entries() {
		got = append(got, e.Path)
	}
	if diff := cmp.Diff([]string{ignoreName, "Dockerfile", "a"}, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestIgnoreFileOfOneDockerfile(t *testing.T) {
	outside := t.TempDir()
	write(t, outside, "D"+ignoreName, "a")
	tests := []struct {
		name       string
		dockerfile string
		own        string // its ignore file, relative to the root
		want       []string
		file       string
	}{
		{"default name", "", "Dockerfile.dockerignore", []string{"Dockerfile.dockerignore", "b"}, "Dockerfile.dockerignore"},
		{"none", "", "", []string{"a"}, ignoreName},
		{"other name", "x.Dockerfile", "x.Dockerfile.dockerignore", []string{"b", "x.Dockerfile.dockerignore"}, "x.Dockerfile.dockerignore"},
		{"that of another one", "x.Dockerfile", "Dockerfile.dockerignore", []string{"Dockerfile.dockerignore", "a"}, ignoreName},
		{"in a directory", "d/D", "d/D.dockerignore", []string{"b", "d/", "d/D.dockerignore"}, "d/D.dockerignore"},
		{"outside", filepath.Join(outside, "D"), "", []string{"b"}, filepath.Join(outside, "D.dockerignore")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := lay(t, "a", "b")
			write(t, root, ignoreName, "b")
			if test.own != "" {
				write(t, root, test.own, "a")
			}
			tree := mustWalk(t, root, Options{Dockerfile: test.dockerfile})
			if diff := cmp.Diff(test.want, paths(tree)); diff != "" {
				t.Errorf("kept (-want +got):\n%s", diff)
			}
			want := test.file
			if !filepath.IsAbs(want) {
				want = filepath.Join(tree.Root(), want)
			}
			if tree.IgnoreFile() != want {
				t.Errorf("IgnoreFile() = %s, want %s", tree.IgnoreFile(), want)
			}
		})
	}
	t.Run("an empty one wins", func(t *testing.T) {
		root := lay(t, "a", "b")
		write(t, root, ignoreName, "*")
		write(t, root, "Dockerfile.dockerignore", "")
		if diff := cmp.Diff([]string{"Dockerfile.dockerignore", "a", "b"}, paths(mustWalk(t, root, Options{}))); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
}

func TestIgnoreFileErrors(t *testing.T) {
	tests := []struct {
		name, ignore string
		line         int
		text         string
	}{
		{"class without an end", "a\n\n# c\n[b\n", 4, `"[b"`},
		{"reversed range, which only the matcher notices", "a\r\n[z-a]\r\n", 2, `"[z-a]"`},
		{"bang alone", "!", 1, `"!"`},
		{"backslash at the end", "a\nb\\", 2, `"b\\"`},
		{"exception", "*\n![b", 2, `"![b"`},
		{"UTF-16", "\xff\xfea\x00\n\x00", 1, "UTF-16"},
		{"line that is too long", "a\n" + strings.Repeat("b", 1<<16), 0, "too long"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := lay(t, "zzz")
			write(t, root, ignoreName, test.ignore)
			_, err := Walk(t.Context(), root, Options{})
			var ignoreErr *IgnoreError
			if !errors.As(err, &ignoreErr) {
				t.Fatalf("got %v, want an *IgnoreError", err)
			}
			if ignoreErr.Line != test.line || filepath.Base(ignoreErr.File) != ignoreName || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got line %d of %s: %v; want line %d and the text %s", ignoreErr.Line, ignoreErr.File, err, test.line, test.text)
			}
		})
	}
}

// Docker would go on without any rule, and send everything.
func TestIgnoreFileThatCannotBeRead(t *testing.T) {
	for name, lay := range map[string]func(p string) error{
		"directory":        func(p string) error { return os.Mkdir(p, 0o755) },
		"dangling symlink": func(p string) error { return os.Symlink("nowhere", p) },
	} {
		for _, base := range []string{ignoreName, "Dockerfile" + ignoreName} {
			t.Run(name+" "+base, func(t *testing.T) {
				root := t.TempDir()
				check(t, lay(filepath.Join(root, base)))
				_, err := Walk(t.Context(), root, Options{})
				var ignoreErr *IgnoreError
				if !errors.As(err, &ignoreErr) || ignoreErr.Line != 0 || filepath.Base(ignoreErr.File) != base {
					t.Errorf("got %v, want an *IgnoreError about %s", err, base)
				}
			})
		}
	}
}

func TestIgnoreFileThroughASymlink(t *testing.T) {
	root := lay(t, "a", "b", ".dockerignore -> rules")
	write(t, root, "rules", "a")
	if diff := cmp.Diff([]string{".dockerignore -> rules", "b", "rules"}, func() []string {
		var out []string
		for e := range mustWalk(t, root, Options{}).Entries() {
			if e.Kind == Symlink {
				out = append(out, e.Path+" -> "+e.Target)
			} else {
				out = append(out, e.Path)
			}
		}
		return out
	}()); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}
