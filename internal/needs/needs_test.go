package needs

import (
	"runtime"
	"testing"
)

// recorder is a test that notes how it was ended.
type recorder struct {
	testing.TB
	ended string
}

func (*recorder) Helper()                 {}
func (r *recorder) Fatalf(string, ...any) { r.end("failed") }
func (r *recorder) Skipf(string, ...any)  { r.end("skipped") }

// end notes the first end: nothing follows it in a test.
func (r *recorder) end(how string) {
	if r.ended == "" {
		r.ended = how
	}
}

func TestMissing(t *testing.T) {
	inCI := "skipped"
	if runtime.GOOS == "linux" {
		inCI = "failed"
	}
	for ci, want := range map[string]string{"true": inCI, "": "skipped"} {
		t.Setenv("CI", ci)
		r := &recorder{TB: t}
		if Missing(r, "no %s", "engine"); r.ended != want {
			t.Errorf("with CI=%q it is %s", ci, r.ended)
		}
	}
}
