package image

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
)

// fakeImage is an image that counts.
type fakeImage struct {
	ready, readyAfter bool
	err               error
	builds            int
}

func (*fakeImage) Name() string         { return "computed" }
func (*fakeImage) Parts() []driver.Part { return nil }

func (i *fakeImage) Ready(context.Context) (bool, error) { return i.ready, nil }

func (i *fakeImage) Build(context.Context, io.Writer) error {
	i.builds++
	i.ready = i.readyAfter
	return i.err
}

// TestFindOrder checks the order: pinned, locked, sources, and the error that lists
// them all.
func TestFindOrder(t *testing.T) {
	compute := func(context.Context) (driver.Image, error) { return &fakeImage{}, nil }
	p := fakeProgram{root: "/somewhere", locked: map[string]string{"fake p": "locked"}}
	for _, c := range []struct {
		s    Settings
		want string
	}{
		{Settings{Backend: "fake", Prefix: "p", Pinned: "pinned"}, "pinned"},
		{Settings{Backend: "fake", Prefix: "p"}, "locked"},
		{Settings{Backend: "fake", Prefix: "q"}, "computed"},
		{Settings{Backend: "other", Prefix: "p"}, "computed"},
	} {
		name, img, err := Find(t.Context(), p, c.s, compute)
		if err != nil || name != c.want || (img != nil) != (c.want == "computed") {
			t.Errorf("%+v: it found %q %v %v, want %q", c.s, name, img, err, c.want)
		}
	}
	p.root = ""
	_, _, err := Find(t.Context(), p, Settings{Backend: "fake", Prefix: "q"}, func(context.Context) (driver.Image, error) {
		return nil, errors.New("no")
	})
	for _, way := range []string{"pinned", remote.LockVariable, "remote.UseLock", "sources", "example.com/m"} {
		if err == nil || !strings.Contains(err.Error(), way) {
			t.Errorf("the error does not name %q: %v", way, err)
		}
	}
}

// TestFindChecksTheVariable checks that a variable that says nothing is found before an image is
// missing, unless the backend value decides.
func TestFindChecksTheVariable(t *testing.T) {
	t.Setenv(AutoBuildVariable, "maybe")
	p := fakeProgram{root: "/somewhere", locked: map[string]string{"fake p": "locked"}}
	for _, s := range []Settings{{Backend: "fake", Prefix: "p"}, {Backend: "fake", Prefix: "q"}, {Backend: "fake", Prefix: "p", Pinned: "pinned"}} {
		compute := func(context.Context) (driver.Image, error) { return &fakeImage{}, nil }
		if _, _, err := Find(t.Context(), p, s, compute); err == nil || !strings.Contains(err.Error(), AutoBuildVariable+`: "maybe"`) {
			t.Errorf("%+v: %v", s, err)
		}
		s.AutoBuild = new(bool)
		if _, _, err := Find(t.Context(), p, s, compute); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func TestEnsure(t *testing.T) {
	no, yes := false, true
	failed := errors.New("failed")
	for _, c := range []struct {
		what     string
		variable string
		s        Settings
		image    fakeImage
		builds   int
		missing  bool
		err      error
	}{
		{what: "ready", image: fakeImage{ready: true}, s: Settings{AutoBuild: &no}},
		{what: "missing", image: fakeImage{readyAfter: true}, builds: 1},
		{what: "not to be built", variable: "off", missing: true},
		{what: "the value wins over the variable", variable: "0", s: Settings{AutoBuild: &yes}, image: fakeImage{readyAfter: true}, builds: 1},
		{what: "the value forbids", variable: "1", s: Settings{AutoBuild: &no}, missing: true},
		{what: "somebody else was faster", image: fakeImage{readyAfter: true, err: failed}, builds: 1},
		{what: "it fails", image: fakeImage{err: failed}, builds: 1, err: failed},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Setenv(AutoBuildVariable, c.variable)
			img := c.image
			err := Ensure(t.Context(), c.s, &img, io.Discard)
			_, missing := errors.AsType[*remote.MissingImageError](err)
			if img.builds != c.builds || missing != c.missing || c.err != nil && !errors.Is(err, c.err) || err != nil && c.err == nil && !missing {
				t.Errorf("%d builds, error %v", img.builds, err)
			}
		})
	}
}

func TestAutoBuildVariable(t *testing.T) {
	for value, want := range map[string]string{
		"": "true", "1": "true", "true": "true", "Yes": "true", "ON": "true", " 1 ": "true",
		"0": "false", "false": "false", "No": "false", "off": "false", "2": "error", "ja": "error",
	} {
		t.Setenv(AutoBuildVariable, value)
		may, err := AutoBuild(nil)
		got := map[bool]string{true: "true", false: "false"}[may]
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q means %s, want %s", value, got, want)
		}
	}
}
