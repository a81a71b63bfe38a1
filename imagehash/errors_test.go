package imagehash

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEveryFailureIsReportedInOrder(t *testing.T) {
	root := lay(t, "c", "a", "b/x", "d")
	sys := realSystem()
	open := sys.open
	sys.open = func(name string) (fs.File, error) {
		if filepath.Base(name) == "d" {
			return open(name)
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	_, err := walk(t.Context(), root, Options{}, sys)
	var got []string
	for line := range strings.Lines(err.Error()) {
		got = append(got, strings.Fields(line)[1])
	}
	if want := []string{"a", "b/x", "c"}; !slices.Equal(got, want) {
		t.Errorf("reported %q, want %q: %v", got, want, err)
	}
}

func TestFailuresAreNotReportedByTheThousand(t *testing.T) {
	var files []string
	for i := range 3 * maxJoined {
		files = append(files, string(rune('A'+i)))
	}
	sys := realSystem()
	sys.open = func(name string) (fs.File, error) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("disk on fire")}
	}
	_, err := walk(t.Context(), lay(t, files...), Options{}, sys)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxJoined+1 || lines[maxJoined] != "imagehash: and 40 more" {
		t.Errorf("got %d lines, the last of them %q", len(lines), lines[len(lines)-1])
	}
}

func TestErrorTexts(t *testing.T) {
	at := place{root: "/ctx"}
	tests := []struct {
		err  error
		want string
	}{
		{
			at.failed("a b/\n", &fs.PathError{Op: "open", Path: "/ctx/a b/\n", Err: fs.ErrPermission}),
			`imagehash: "a b/\n" in build context /ctx: open: permission denied; make it readable`,
		},
		{
			at.failed("disk", errors.New("input/output error")),
			`imagehash: disk in build context /ctx: input/output error; mend it, or exclude it by the line /disk in .dockerignore`,
		},
		{
			at.failed("", &fs.PathError{Op: "open", Path: "/ctx", Err: fs.ErrPermission}),
			`imagehash: build context /ctx: open: permission denied; make it readable`,
		},
		{
			place{root: "/ctx", ignoreFile: "/elsewhere/D.dockerignore"}.failed("a", fs.ErrPermission),
			`imagehash: a in build context /ctx: permission denied; make it readable, or exclude it by the line /a in /elsewhere/D.dockerignore`,
		},
		{
			at.changed("a", "size"),
			`imagehash: a in build context /ctx changed while it was read (size); try again when nothing writes to it, or exclude it`,
		},
		{
			&IgnoreError{File: "/ctx/.dockerignore", Line: 3, Pattern: "[a", Err: filepath.ErrBadPattern},
			`imagehash: /ctx/.dockerignore:3: pattern "[a": syntax error in pattern; mend or remove the line`,
		},
		{
			&IgnoreError{File: "/ctx/.dockerignore", Err: &fs.PathError{Op: "open", Path: "/ctx/.dockerignore", Err: fs.ErrPermission}},
			`imagehash: cannot use /ctx/.dockerignore: open: permission denied; mend or remove it`,
		},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, test.err.Error()); diff != "" {
			t.Errorf("text (-want +got):\n%s", diff)
		}
	}
	if err := tests[5].err; !errors.Is(err, filepath.ErrBadPattern) {
		t.Errorf("%v does not unwrap", err)
	}
}
