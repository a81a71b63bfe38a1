package imagehash

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// FuzzDigest makes one tree twice, in different ways, and then a different one.
func FuzzDigest(f *testing.F) {
	f.Add([]byte("a\x00b/c\x00b/d\x00"), uint8(0))
	f.Add([]byte("x\ny\x00x\nf 0 z\x00 \x00\xff\x00"), uint8(3))
	f.Add([]byte("a/b/c/d/e\x00a/b/c/d/f\x00a.b\x00a-b\x00"), uint8(9))
	f.Fuzz(func(t *testing.T, names []byte, pick uint8) {
		if len(names) > 500 {
			t.Skip("longer, not different")
		}
		list := strings.Split(string(names), "\x00")
		first, second := t.TempDir(), t.TempDir()
		made := layMixed(first, list, 0o022)
		layMixed(second, made, 0o077)

		tree := mustWalk(t, first, Options{Workers: 1})
		again := mustWalk(t, second, Options{Workers: 7})
		if tree.Digest() != again.Digest() {
			t.Errorf("two digests of one content: %v", Diff(tree.Summary(), again.Summary()))
		}
		var archive, other bytes.Buffer
		check(t, tree.WriteTar(t.Context(), &archive))
		check(t, again.WriteTar(t.Context(), &other))
		if !bytes.Equal(archive.Bytes(), other.Bytes()) {
			t.Error("two archives of one content")
		}
		recordsReadBack(t, tree)
		summaryReadsBack(t, tree)
		if len(made) == 0 {
			return
		}
		victim := made[int(pick)%len(made)]
		check(t, disturb(filepath.Join(second, victim), pick))
		if changed := mustWalk(t, second, Options{}); changed.Digest() == tree.Digest() || len(Diff(tree.Summary(), changed.Summary())) == 0 {
			t.Errorf("a change of %q changed nothing", victim)
		}
	})
}

// layMixed makes what it can of names, and returns the names that are files, directories or symlinks of its own making. What
// an entry is follows from its name; its other modes and its time from mask.
func layMixed(root string, names []string, mask os.FileMode) []string {
	always, secrets := alwaysExcluded(), newSecretNames()
	var made []string
	for _, name := range names {
		rel := strings.TrimPrefix(filepath.Clean("/"+name), "/")
		full := filepath.Join(root, rel)
		usable := rel != "" && !strings.HasSuffix(rel, ignoreName) && len(filepath.Base(rel)) < 200
		for p := rel; p != "." && p != ""; p = filepath.Dir(p) {
			_, isAlways := always[filepath.Base(p)]
			usable = usable && !isAlways && !secrets.match(p, filepath.Base(p))
		}
		if _, err := os.Lstat(full); !usable || err == nil || os.MkdirAll(filepath.Dir(full), 0o777&^mask) != nil {
			continue
		}
		var err error
		switch len(rel) % 5 {
		case 0:
			err = os.Mkdir(full, 0o777&^mask)
		case 1:
			err = os.Symlink(rel, full)
		case 2:
			err = os.WriteFile(full, []byte(rel), 0o777&^mask)
		default:
			err = os.WriteFile(full, []byte(rel), 0o666&^mask)
		}
		if err == nil {
			made = append(made, rel)
			_ = os.Chtimes(full, time.Unix(int64(mask), 0), time.Unix(int64(mask), 0)) // follows the symlink, perhaps to nothing
		}
	}
	return made
}

// disturb changes one entry: kinds of change are chosen by pick.
func disturb(full string, pick uint8) error {
	if pick%2 == 0 {
		renamed := full + "'"
		for _, err := os.Lstat(renamed); err == nil; _, err = os.Lstat(renamed) {
			renamed += "'"
		}
		return os.Rename(full, renamed)
	}
	info, err := os.Lstat(full)
	if err != nil {
		return err
	}
	switch {
	case info.IsDir():
		return os.WriteFile(filepath.Join(full, "new"), nil, 0o644)
	case info.Mode().IsRegular() && pick%3 == 0:
		return os.Chmod(full, info.Mode()^0o100)
	case info.Mode().IsRegular():
		return appendTo(full, strconv.Itoa(int(pick)))
	default:
		return replace(filepath.Dir(full), filepath.Base(full), func(p string) error { return os.Symlink(p, p) })
	}
}

// recordsReadBack takes apart what is hashed: if that can be done in one way only, no two trees have the same records.
func recordsReadBack(t *testing.T, tree *Tree) {
	t.Helper()
	var records []byte
	for e := range tree.Entries() {
		records = appendRecord(records, e)
	}
	var got []string
	for record := range strings.SplitSeq(strings.TrimSuffix(string(records), "\x00"), "\x00") {
		if record != "" {
			got = append(got, record)
		}
	}
	var want []string
	for e := range tree.Entries() {
		sum := e.Sum.String()
		if e.Kind == Dir {
			sum = "-"
		}
		want = append(want, string(rune(e.letter()))+" "+sum+" "+e.Path)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if !slices.IsSortedFunc(got, func(a, b string) int {
		return strings.Compare(strings.SplitN(a, " ", 3)[2], strings.SplitN(b, " ", 3)[2])
	}) {
		t.Errorf("records are not sorted by path: %q", got)
	}
}

func summaryReadsBack(t *testing.T, tree *Tree) {
	t.Helper()
	text, err := json.Marshal(tree.Summary())
	check(t, err)
	var back Summary
	check(t, json.Unmarshal(text, &back))
	if changes := Diff(tree.Summary(), back); changes != nil {
		t.Errorf("the summary came back with %v", changes)
	}
}
