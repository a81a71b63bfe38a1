package runner

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/remote-box/remote/internal/wire"
)

// hear returns a connection and what arrives there, by stream.
func hear(t *testing.T) (*wire.Writer, func() (stdout, stderr string)) {
	t.Helper()
	var b bytes.Buffer
	return wire.NewWriter(&b, "n"), func() (string, string) {
		var out, err strings.Builder
		for r := wire.NewReader(&b, "n", nil); ; {
			f, e := r.Next()
			if e == io.EOF {
				return out.String(), err.String()
			}
			if e != nil {
				t.Fatal(e)
			}
			map[wire.Kind]*strings.Builder{wire.KindStdout: &out, wire.KindStderr: &err}[f.Kind].Write(f.Body)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

// A host that comes back gets what it does not have, once.
func TestTape(t *testing.T) {
	tp := &tape{call: "c", keep: 8, to: wire.NewWriter(brokenWriter{}, "n")}
	tp.record(wire.KindStdout, []byte("one "))
	if tp.listener() != nil {
		t.Error("a broken connection still listens")
	}
	tp.record(wire.KindStdout, []byte("two"))
	tp.record(wire.KindStderr, []byte("err"))

	w, got := hear(t)
	tp.resume(w, 2, wire.Query{Stdout: 2, Stderr: 1})
	tp.record(wire.KindStdout, []byte("!"))
	if out, err := got(); out != "e two!" || err != "rr" {
		t.Errorf("%q, %q", out, err)
	}
	// One that asks late, over a connection that has been replaced, changes nothing.
	old, oldGot := hear(t)
	tp.resume(old, 1, wire.Query{})
	if tp.listener() != w {
		t.Error("an older connection listens")
	}
	if out, err := oldGot(); out != "" || err != "" {
		t.Errorf("%q, %q", out, err)
	}
	// More than has been written is nothing.
	tp.resume(w, 3, wire.Query{Stdout: 100, Stderr: -1})
	if out, err := got(); out != "" || err != "err" {
		t.Errorf("%q, %q", out, err)
	}
}

// The end of what is printed is kept, whatever the sizes of the pieces.
func TestReel(t *testing.T) {
	const keep = 10
	all := strings.Repeat("0123456789abcdef", 20)
	for piece := 1; piece < 40; piece++ {
		var r reel
		for i := 0; i < len(all); i += piece {
			end := min(i+piece, len(all))
			r.add([]byte(all[i:end]), keep)
			if len(r.Kept) > 2*keep {
				t.Fatalf("pieces of %d: it holds %d bytes", piece, len(r.Kept))
			}
			for n := max(0, end-keep); n <= end; n++ {
				if got := string(r.from(int64(n))); got != all[n:end] {
					t.Fatalf("pieces of %d, after %d, from %d: %q", piece, end, n, got)
				}
			}
		}
	}
}
