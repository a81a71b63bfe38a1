package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func frame(t testing.TB, kind Kind, call, body string) string {
	t.Helper()
	var b bytes.Buffer
	if err := NewWriter(&b, goldenNonce).Frame(kind, call, []byte(body)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readAll reads frames until there are no more.
func readAll(r io.Reader) (frames []Frame, other string, err error) {
	var o bytes.Buffer
	fr := NewReader(r, goldenNonce, &o)
	for {
		f, err := fr.Next()
		if err != nil {
			return frames, o.String(), err
		}
		f.Body = bytes.Clone(f.Body)
		frames = append(frames, f)
	}
}

func TestReader(t *testing.T) {
	hello := "\n" + frame(t, KindHello, NoCall, "{}")
	out := frame(t, KindStdout, goldenCall, "hi\n")
	foreign := strings.ReplaceAll(out, goldenNonce, strings.Repeat("z", 26))
	for _, c := range []struct {
		name, in string
		frames   int
		other    string
		err      error
	}{
		{"nothing", "", 0, "", io.EOF},
		{"only text", "a\nb", 0, "a\nb", io.EOF},
		{"text that ends a line", "a\n\n", 0, "a\n\n", io.EOF},
		{"hello alone", hello, 1, "", io.EOF},
		{"the runner's newline ends a line", "from init" + hello, 1, "from init", io.EOF},
		{"the program's newline stays", "from init\n" + hello, 1, "from init\n", io.EOF},
		{"many newlines", "\n\n\n" + hello, 1, "\n\n\n", io.EOF},
		{"later newlines are the program's", hello + "\n\n" + out + "\n" + out, 3, "\n\n\n", io.EOF},
		{"text without a newline before a frame", hello + "dots..." + out + "more" + out, 3, "dots...more", io.EOF},
		{"CRLF", "text\r\n" + strings.ReplaceAll(out, "\n", "\r\n") + "x\r\n" + out, 2, "text\rx\r\n", io.EOF},
		{"wrong nonce", foreign, 0, foreign, io.EOF},
		{"wrong nonce between", out + foreign + out, 2, foreign, io.EOF},
		{"a start within a start", "~rb1 ~rb1 abc~rb1 " + out, 1, "~rb1 ~rb1 abc~rb1 ", io.EOF},
		{"text that is nearly a frame", out[:31] + "\n" + out, 1, out[:31], io.EOF},
		{"the beginning of a start at the end", "x~rb1 abc", 0, "x~rb1 abc", io.EOF},
		{"truncated in the body", out[:len(out)-2], 0, "", io.ErrUnexpectedEOF},
		{"truncated after the start", out[:32], 0, "", io.ErrUnexpectedEOF},
		{"truncated in the start", out[:20], 0, out[:20], io.EOF},
		{"no kind", out[:32] + "\n", 0, "", &FrameError{}},
		{"long kind", out[:32] + "oo - \n", 0, "", &FrameError{}},
		{"no call", out[:32] + "o  \n", 0, "", &FrameError{}},
		{"a call that is a path", out[:32] + "o ../x \n", 0, "", &FrameError{}},
		{"no base64", out[:32] + "o - !!!!\n", 0, "", &FrameError{}},
		{"padding bits", out[:32] + "o - aGJ=\n", 0, "", &FrameError{}},
		{"carriage return inside", out[:32] + "o - aG\rk=\n", 0, "", &FrameError{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			readers := map[string]io.Reader{
				"whole": strings.NewReader(c.in), "bytewise": iotest.OneByteReader(strings.NewReader(c.in)),
				"halves": iotest.HalfReader(strings.NewReader(c.in)), "data with EOF": iotest.DataErrReader(strings.NewReader(c.in)),
			}
			for name, r := range readers {
				frames, other, err := readAll(r)
				if len(frames) != c.frames || other != c.other {
					t.Errorf("%s: %d frames, other %q; want %d and %q", name, len(frames), other, c.frames, c.other)
				}
				if _, ok := c.err.(*FrameError); ok {
					if _, ok := errors.AsType[*FrameError](err); !ok {
						t.Errorf("%s: %v, want a FrameError", name, err)
					}
				} else if err != c.err {
					t.Errorf("%s: %v, want %v", name, err, c.err)
				}
			}
		})
	}
}

// Whatever is no frame must be passed on at once, not when as much as a frame's start has come.
func TestReaderDoesNotDelay(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	passed := make(chan string, 100)
	frames := make(chan string, 100)
	go func() {
		fr := NewReader(r, goldenNonce, writerFunc(func(p []byte) { passed <- string(p) }))
		for {
			f, err := fr.Next()
			if err != nil {
				close(frames)
				return
			}
			frames <- string(f.Body)
		}
	}()
	for _, step := range []struct{ write, passed, frame string }{
		{"a", "a", ""},
		{"no newline", "no newline", ""},
		{"~", "", ""}, // it may be a frame
		{"x", "~x", ""},
		{"\n" + frame(t, KindStdout, goldenCall, "1"), "", "1"},
		{"x\n", "x\n", ""},
		{frame(t, KindStdout, goldenCall, "2"), "", "2"},
	} {
		io.WriteString(w, step.write)
		if step.passed != "" {
			got := ""
			for len(got) < len(step.passed) {
				got += receive(t, passed)
			}
			if got != step.passed {
				t.Errorf("after %q: passed %q", step.write, got)
			}
		}
		if step.frame != "" {
			if got := receive(t, frames); got != step.frame {
				t.Errorf("after %q: frame %q", step.write, got)
			}
		}
	}
	w.Close()
	if f, more := <-frames; more {
		t.Errorf("a frame %q at the end", f)
	}
}

func receive(t *testing.T, c <-chan string) string {
	t.Helper()
	select {
	case s := <-c:
		return s
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
		return ""
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) { f(p); return len(p), nil }

// pattern yields n bytes of a repeated text.
type pattern struct {
	text string
	n    int
}

func (p *pattern) Read(b []byte) (int, error) {
	if p.n <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(b) && n < p.n {
		n += copy(b[n:min(len(b), p.n)], p.text)
	}
	p.n -= n
	return n, nil
}

// What a hostile stream can make a Reader hold is one frame.
func TestReaderMemory(t *testing.T) {
	const size = 64 << 20
	start := frame(t, KindStdout, goldenCall, "")[:32]
	for _, c := range []struct {
		name string
		r    io.Reader
		err  error
	}{
		{"a line without end", &pattern{strings.Repeat("x", 4096), size}, io.EOF},
		{"newlines", &pattern{strings.Repeat("\n", 4096), size}, io.EOF},
		{"beginnings of frames", &pattern{strings.Repeat(start[:31]+"\n", 128), size}, io.EOF},
		{"a frame without end", io.MultiReader(strings.NewReader(start+"o - "), &pattern{strings.Repeat("A", 4096), size}), &FrameError{}},
		{"a frame one byte too large", strings.NewReader(start + "o - " + strings.Repeat("A", 4*((MaxBody+3)/3+1)) + "\n"), &FrameError{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			passed := 0
			_, err := NewReader(c.r, goldenNonce, writerFunc(func(p []byte) { passed += len(p) })).Next()
			runtime.ReadMemStats(&after)
			if _, ok := c.err.(*FrameError); ok {
				if _, ok := errors.AsType[*FrameError](err); !ok {
					t.Errorf("got %v, want a FrameError", err)
				}
			} else if err != c.err || passed != size {
				t.Errorf("got %v after %d bytes", err, passed)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
				t.Errorf("%d bytes were allocated", grown)
			}
		})
	}
}

func TestLargestFrame(t *testing.T) {
	body := strings.Repeat("\xff\x00", MaxBody/2)
	frames, _, err := readAll(strings.NewReader(frame(t, KindStdout, goldenCall, body)))
	if err != io.EOF || len(frames) != 1 || string(frames[0].Body) != body {
		t.Errorf("%d frames, %v", len(frames), err)
	}
	var b bytes.Buffer
	err = NewWriter(&b, goldenNonce).Frame(KindStdout, goldenCall, make([]byte, MaxBody+1))
	if _, ok := errors.AsType[*FrameError](err); !ok || b.Len() > 0 {
		t.Errorf("a body over the limit: %v, %d bytes written", err, b.Len())
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"", "text", frame(t, KindStdout, goldenCall, "x")[:40]} {
		_, _, err := readAll(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)))
		if err != broken {
			t.Errorf("after %q: %v", in, err)
		}
	}
}
