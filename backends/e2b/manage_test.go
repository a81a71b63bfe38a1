//go:build linux && !remotebox_runner

package e2b_test

import (
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b"
	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// TestImages lists templates and removes one that nobody uses.
func TestImages(t *testing.T) {
	_, b := serve(t, e2btest.Config{})
	list, err := b.Images(t.Context())
	if err != nil || len(list) != 1 || list[0].Created.IsZero() {
		t.Fatalf("%+v, %v", list, err)
	}
	other := b
	other.TemplatePrefix = "other"
	if list, err := other.Images(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("another prefix: %+v, %v", list, err)
	}
	image := list[0].Name
	if err := b.RemoveImage(t.Context(), "base"); err == nil {
		t.Error("another template was removed")
	}
	s := remote.NewSession(b)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := b.RemoveImage(t.Context(), image); err == nil {
		t.Error("a template in use was removed")
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.RemoveImage(t.Context(), image); err != nil {
			t.Error(err)
		}
	}
	if list, err := b.Images(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestDiagnose(t *testing.T) {
	srv := e2btest.New(t, e2btest.Config{})
	for _, f := range on(srv).Diagnose(t.Context()) {
		if f.Problem != "" {
			t.Errorf("%+v", f)
		}
	}
	b := on(srv)
	b.APIKey = "wrong"
	if f := b.Diagnose(t.Context()); f[len(f)-1].Problem == "" || f[len(f)-1].Mend == "" {
		t.Errorf("a wrong key: %+v", f)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("E2B_API_KEY", "")
	if f := (e2b.Backend{}).Diagnose(t.Context()); len(f) != 1 || f[0].Problem != "empty" {
		t.Errorf("no key: %+v", f)
	}
}
