package daytona

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/remote-box/remote/internal/httpapi"
)

// TestSource reads sources half, and then again as a whole.
func TestSource(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 2*keepRead/16)
	seeking := strings.NewReader("skipped" + text)
	if _, err := io.CopyN(io.Discard, seeking, 7); err != nil {
		t.Fatal(err)
	}
	pr, pw, err := os.Pipe() // has a Seek that fails
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	go func() {
		io.WriteString(pw, text)
		pw.Close()
	}()
	_, idle := httpapi.WithIdle(t.Context(), time.Minute)
	defer idle.Stop()
	for name, c := range map[string]struct {
		r    io.Reader
		read int64 // before the rewind
		can  bool
	}{
		"a seeker":     {seeking, int64(len(text)), true},
		"nothing yet":  {pr, 0, true},
		"a little":     {iotest.OneByteReader(bytes.NewBufferString(text)), keepRead, true},
		"too much":     {bytes.NewBufferString(text), keepRead + 1, false},
		"all of it":    {bytes.NewBufferString(text), int64(len(text)), false},
		"a short text": {iotest.DataErrReader(bytes.NewBufferString(text[:100])), 100, true},
	} {
		t.Run(name, func(t *testing.T) {
			want := text
			if name == "a short text" {
				want = text[:100]
			}
			s := newSource(c.r)
			for range 2 {
				got := make([]byte, c.read)
				if _, err := io.ReadFull(reader{s, idle}, got); err != nil || string(got) != want[:c.read] {
					t.Fatalf("%.40q, %v", got, err)
				}
				if s.spent() == c.can || s.rewind() != c.can {
					t.Fatalf("whether it can be read again is not %v", c.can)
				}
				if !c.can {
					return
				}
			}
			if got, err := io.ReadAll(reader{s, idle}); err != nil || string(got) != want {
				t.Errorf("%d bytes in the end, %v", len(got), err)
			}
		})
	}
}

// TestSlowSource reads a source that takes longer than a transfer may be silent.
func TestSlowSource(t *testing.T) {
	const limit = 20 * time.Millisecond
	ctx, idle := httpapi.WithIdle(t.Context(), limit)
	defer idle.Stop()
	slow := readerFunc(func(p []byte) (int, error) {
		time.Sleep(5 * limit) // a slow source, not a wait for anything
		return 0, io.EOF
	})
	if _, err := io.ReadAll(reader{newSource(slow), idle}); err != nil || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
	<-ctx.Done() // what is silent afterwards is the transfer
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
