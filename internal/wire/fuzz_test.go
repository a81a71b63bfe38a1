package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzReader feeds arbitrary bytes: every byte is either in a frame or passed on, in order.
func FuzzReader(f *testing.F) {
	start := prefix + goldenNonce + " "
	f.Add([]byte("text\n"+start+"o - aGk=\nmore"), 1)
	f.Add([]byte("\n"+start+"h - e30=\r\n"), 3)
	f.Add([]byte(start+"o - "), 7)
	f.Add([]byte(strings.Repeat(start, 3)), 64)
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		var other bytes.Buffer
		r := NewReader(pieces(in, piece), goldenNonce, &other)
		// The input, with every frame taken out as the reader reports it.
		rest, first := in, true
		var want bytes.Buffer
		for {
			fr, err := r.Next()
			at := bytes.Index(rest, []byte(start))
			if at < 0 {
				if err != io.EOF {
					t.Fatalf("%v, but there is no further frame", err)
				}
				want.Write(rest)
				break
			}
			before := rest[:at]
			if first && bytes.HasSuffix(before, []byte("\n")) {
				before = before[:len(before)-1]
			}
			first = false
			want.Write(before)
			line, behind, whole := bytes.Cut(rest[at+len(start):], []byte("\n"))
			if err != nil {
				if _, ok := errors.AsType[*FrameError](err); !ok && (whole || err != io.ErrUnexpectedEOF) {
					t.Fatalf("the frame %q: %v", line, err)
				}
				break
			}
			if len(fr.Body) > MaxBody || fr.Call != NoCall && !ValidID(fr.Call) {
				t.Fatalf("a frame beyond the limits: call %q, %d bytes", fr.Call, len(fr.Body))
			}
			if got := start + string(bytes.TrimSuffix(line, []byte("\r"))) + "\n"; got != frame(t, fr.Kind, fr.Call, string(fr.Body)) {
				t.Fatalf("%q was read as %c %s %q", got, fr.Kind, fr.Call, fr.Body)
			}
			rest = behind
		}
		if !bytes.Equal(other.Bytes(), want.Bytes()) {
			t.Fatalf("passed on %q, want %q", other.Bytes(), want.Bytes())
		}
	})
}

// pieces reads in in pieces of n bytes, or all at once.
func pieces(in []byte, n int) io.Reader {
	if n == 1 {
		return iotest.OneByteReader(bytes.NewReader(in))
	}
	if n < 1 || n >= len(in) {
		return bytes.NewReader(in)
	}
	return io.MultiReader(bytes.NewReader(in[:n]), iotest.HalfReader(bytes.NewReader(in[n:])))
}

// FuzzFrames writes frames with stray text between them and separates both again.
func FuzzFrames(f *testing.F) {
	f.Add("from init", []byte("body"), "text\n", []byte{}, "no newline", 5)
	f.Add("\n", []byte("\xff\x00"), "", []byte("~rb1 "), "~rb1 abc", 1)
	f.Fuzz(func(t *testing.T, before string, one []byte, between string, two []byte, after string, piece int) {
		if len(one) > MaxBody || len(two) > MaxBody || strings.Contains(before+between+after, goldenNonce) {
			t.Skip()
		}
		var b bytes.Buffer
		w := NewWriter(&b, goldenNonce)
		b.WriteString(before)
		w.Hello(Hello{Version: Version, PID: 1})
		w.Frame(KindStdout, goldenCall, one)
		b.WriteString(between)
		w.Frame(KindData, NoCall, two)
		b.WriteString(after)
		frames, other, err := readAll(pieces(b.Bytes(), piece))
		if err != io.EOF || other != before+between+after {
			t.Fatalf("%v, passed on %q, want %q", err, other, before+between+after)
		}
		if len(frames) != 3 || frames[0].Kind != KindHello || !bytes.Equal(frames[1].Body, one) || !bytes.Equal(frames[2].Body, two) {
			t.Fatalf("frames: %+v", frames)
		}
		if frames[1].Kind != KindStdout || frames[1].Call != goldenCall || frames[2].Kind != KindData || frames[2].Call != NoCall {
			t.Fatalf("frames: %+v", frames)
		}
	})
}
