package imagehash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummaryIsReadable(t *testing.T) {
	root := lay(t, "a", "bin/run*", "l -> a", "a\nb", " lead", `"q"`, "latin1-\xe9", "ünï", "sp ace")
	text, err := json.MarshalIndent(mustWalk(t, root, Options{}).Summary(), "", "\t")
	check(t, err)
	const want = `[
	"f e3e3c40cda28  lead",
	"f 90edba1c9d0b \"\\\"q\\\"\"",
	"f ca978112ca1b a",
	"f 7e18f737311b \"a\\nb\"",
	"d - bin",
	"x f77004d50a4f bin/run",
	"l ca978112ca1b l",
	"f d4e0f6c54ee6 \"latin1-\\xe9\"",
	"f ed7f8c6309c2 sp ace",
	"f e975a52994d8 ünï"
]`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

func TestSummarySurvivesJSON(t *testing.T) {
	want := mustWalk(t, lay(t, append(oddNames(), "x*", "e/", "l -> a")...), Options{}).Summary()
	text, err := json.Marshal(want)
	check(t, err)
	var got Summary
	check(t, json.Unmarshal(text, &got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("came back as (-want +got):\n%s", diff)
	}
}

func TestSummaryLineErrors(t *testing.T) {
	for _, bad := range []string{
		"", "f", "f ", "f 0123456789ab", "f 0123456789ab ", "g 0123456789ab a", "ff 0123456789ab a", "f - a", "d 0123456789ab a", "f 0123456789aB a",
		"f 0123456789a a", "f 0123456789ab0 a", "f 0123456789ab \"a", "f 0123456789ab \"a\"", "f 0123456789ab a\nb", "d -  \xff", "d - \"\"",
	} {
		line := Line{Path: "untouched"}
		if err := line.UnmarshalText([]byte(bad)); err == nil || line.Path != "untouched" {
			t.Errorf("UnmarshalText(%q) = %v, %v; want an error", bad, line, err)
		}
	}
}

func TestDiff(t *testing.T) {
	root := lay(t, "a", "b", "c", "d/x", "e", "l -> a", "m -> a", "r", "run", "stop*", "both")
	before := mustWalk(t, root, Options{}).Summary()
	write(t, root, "a", "new")
	check(t, os.Remove(filepath.Join(root, "r")))
	check(t, os.Rename(filepath.Join(root, "d", "x"), filepath.Join(root, "d", "y")))
	check(t, os.Chmod(filepath.Join(root, "run"), 0o755))
	check(t, os.Chmod(filepath.Join(root, "stop"), 0o644))
	write(t, root, "both", "new")
	check(t, os.Chmod(filepath.Join(root, "both"), 0o755))
	check(t, replace(root, "l", func(p string) error { return os.Symlink("b", p) }))
	check(t, replace(root, "m", func(p string) error { return os.WriteFile(p, []byte("a"), 0o644) }))
	check(t, replace(root, "e", func(p string) error { return os.Mkdir(p, 0o755) }))
	layIn(t, root, "e/new", "a\nb")
	after := mustWalk(t, root, Options{}).Summary()

	var got []string
	for _, c := range Diff(before, after) {
		got = append(got, c.String())
	}
	want := []string{
		"changed a (content)",
		`added "a\nb"`,
		"changed both (content, now executable)",
		"removed d/x",
		"added d/y",
		"changed e (file to directory)",
		"added e/new",
		"changed l (target)",
		"changed m (symlink to file)",
		"removed r",
		"changed run (now executable)",
		"changed stop (no longer executable)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Diff (-want +got):\n%s", diff)
	}
	if c := Diff(after, after); c != nil {
		t.Errorf("Diff of a summary and itself = %v", c)
	}
	if c := Diff(nil, after); len(c) != len(after) || c[0].Op != Added {
		t.Errorf("Diff from nothing = %v", c)
	}
	if c := Diff(before, nil); len(c) != len(before) || c[0].Op != Removed {
		t.Errorf("Diff to nothing = %v", c)
	}
}
