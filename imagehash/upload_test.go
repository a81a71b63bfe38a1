package imagehash

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFilesThatChangeBeforeTheyAreUploaded(t *testing.T) {
	same := map[string]bool{"touched": true, "made executable": true} // the entry's content and mode are what is sent
	all := append(mutations(), mutation{"rewritten in place", func(f string) error {
		info, err := os.Stat(f)
		if err != nil {
			return err
		}
		return errors.Join(os.WriteFile(f, []byte(strings.Repeat("x", int(info.Size()))), 0o644), os.Chtimes(f, info.ModTime(), info.ModTime()))
	}, []string{"content"}})
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			root := lay(t, "d/victim", "other")
			tree := mustWalk(t, root, Options{})
			check(t, m.do(filepath.Join(root, "d", "victim")))
			err := tree.WriteTar(t.Context(), io.Discard)
			if same[m.name] {
				check(t, err)
				return
			}
			wantUploadError(t, err, m)

			r, err := tree.Open("d/victim")
			if err == nil {
				defer r.Close()
				_, err = io.CopyN(io.Discard, r, int64(len("d/victim"))) // does not ask for the end
			}
			wantUploadError(t, err, m)
		})
	}
}

func wantUploadError(t *testing.T, err error, m mutation) {
	t.Helper()
	var changed *ChangedError
	if !errors.As(err, &changed) || changed.Path != "d/victim" {
		t.Fatalf("got %v, want a *ChangedError about d/victim", err)
	}
	if strings.Count(err.Error(), "imagehash:") != 1 {
		t.Errorf("%v is wrapped twice", err)
	}
	// Replaced by its like: an upload does not care which file has the content, but this one has not.
	if want := append(m.what, "content"); !slices.Contains(want, changed.What) {
		t.Errorf("got %v; want %q", err, want)
	}
}

func TestFilesThatChangeWhileTheyAreUploaded(t *testing.T) {
	for name, do := range map[string]func(string) error{
		"grows":   func(f string) error { return appendTo(f, "more") },
		"shrinks": func(f string) error { return os.Truncate(f, 3) },
		"changes": func(f string) error { return os.WriteFile(f, []byte("d/victiM"), 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			root := lay(t, "d/victim", "other")
			tree := mustWalk(t, root, Options{})
			moments()["while it is read"](&tree.sys, func(name string) {
				if filepath.Base(name) == "victim" {
					check(t, do(name))
				}
			})
			var changed *ChangedError
			if err := tree.WriteTar(t.Context(), io.Discard); !errors.As(err, &changed) || changed.Path != "d/victim" {
				t.Errorf("got %v, want a *ChangedError about d/victim", err)
			}
		})
	}
}
