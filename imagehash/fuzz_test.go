package imagehash

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// FuzzDockerignore compares the walk, which prunes, with Docker's matcher on every path there is.
func FuzzDockerignore(f *testing.F) {
	const tree = "a/b/c\na/b/d.go\na/e\nb/a/b\nfoo/bar/baz.md\nx.md\n#x\n!y\nsp ace\n.hidden/a\nempty/"
	for _, ignore := range []string{
		"", "*", "**", "a\n!a/b", "*\n!a/b/c", "*\n!**/*.go", "a\n!a/b\na*", "**/*.md\n!foo", "/a/*\r\n!/a/b/**", "[ab]\n![a]/b/?", "*\n!a/*/c\na/b/d*",
		"\\#x\n\\!y\n!!y", "*\n!b|foo/**", "*\n!a{1}/**", "!a\na", "a/**\n!a/**/d.go", "*\n!\xef\xbf\xbd*/b", "*\n! \n", "[", "\x00", "*\n!a/[^x]*",
		"*\n!foo[/]bar", "*\n!foo\\/bar/*", "*\n!/ x\n!!!a", "*\n![z-a]", "!![z-a]",
	} {
		f.Add([]byte(ignore), tree)
	}
	f.Fuzz(func(t *testing.T, ignore []byte, tree string) {
		if len(tree) > 400 || len(ignore) > 400 {
			t.Skip("longer, not different")
		}
		root := t.TempDir()
		layFuzzed(root, tree)
		// Not in the tree, where a pattern could exclude it.
		dockerfile := filepath.Join(t.TempDir(), "D")
		check(t, os.WriteFile(dockerfile+ignoreName, ignore, 0o644))

		got, err := Walk(t.Context(), root, Options{Dockerfile: dockerfile})
		if objection(ignore) {
			var ignoreErr *IgnoreError
			if !errors.As(err, &ignoreErr) {
				t.Fatalf("got %v, want an *IgnoreError", err)
			}
			return
		}
		check(t, err)
		kept := []string{}
		for e := range got.Entries() {
			kept = append(kept, e.Path)
		}
		if diff := cmp.Diff(unpruned(t, root, ignore), kept); diff != "" {
			t.Errorf("kept with %q (-want +got):\n%s", ignore, diff)
		}
	})
}

// layFuzzed makes what it can of the paths in tree, a line each, without those that are left out for another reason than the
// ignore file.
func layFuzzed(root, tree string) {
	always, secrets := alwaysExcluded(), newSecretNames()
	for line := range strings.SplitSeq(tree, "\n") {
		rel := strings.TrimPrefix(path.Clean("/"+line), "/")
		special := rel == "" || strings.ContainsRune(rel, 0)
		for p := rel; p != "." && p != ""; p = path.Dir(p) {
			_, isAlways := always[path.Base(p)]
			special = special || isAlways || secrets.match(p, path.Base(p))
		}
		full := filepath.Join(root, rel)
		if special || os.MkdirAll(filepath.Dir(full), 0o755) != nil {
			continue
		}
		if strings.HasSuffix(line, "/") {
			_ = os.Mkdir(full, 0o755) // another line may have made it a file, and so on
		} else {
			_ = os.WriteFile(full, []byte(line), 0o644)
		}
	}
}

// objection reports whether Docker's parser or matcher refuses one of the lines, or would mangle it.
func objection(ignore []byte) bool {
	patterns, err := ignorefile.ReadAll(strings.NewReader(string(ignore)))
	if err != nil {
		return true
	}
	for _, p := range patterns {
		if !utf8.ValidString(p) || strings.ContainsRune(p, 0) {
			return true
		}
		if _, err := patternmatcher.New([]string{p}); err != nil {
			return true
		}
		if _, err := patternmatcher.MatchesOrParentMatches("probe", []string{strings.TrimLeft(p, "!")}); err != nil {
			return true
		}
	}
	return false
}

// unpruned is the reference: every path is put to Docker's matcher, after its parent, and what is kept brings its parents.
func unpruned(t *testing.T, root string, ignore []byte) []string {
	t.Helper()
	patterns, err := ignorefile.ReadAll(strings.NewReader(string(ignore)))
	check(t, err)
	matcher, err := patternmatcher.New(patterns)
	check(t, err)
	infos := map[string]patternmatcher.MatchInfo{}
	kept := map[string]bool{}
	check(t, filepath.WalkDir(root, func(full string, _ fs.DirEntry, err error) error {
		if err != nil || full == root {
			return err
		}
		rel, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		ignored, info, err := matcher.MatchesUsingParentResults(rel, infos[path.Dir(rel)])
		if err != nil {
			return err
		}
		infos[rel] = info
		for p := rel; !ignored && p != "."; p = path.Dir(p) {
			kept[p] = true
		}
		return nil
	}))
	list := []string{}
	for p := range kept {
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}
