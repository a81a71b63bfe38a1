package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// writes counts the writes that reach it.
type writes struct {
	bytes.Buffer
	n int
}

func (w *writes) Write(p []byte) (int, error) { w.n++; return w.Buffer.Write(p) }

func TestEveryFrameIsOneWrite(t *testing.T) {
	var b writes
	w := NewWriter(&b, goldenNonce)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { w.Data(KindStdout, goldenCall, bytes.Repeat([]byte("x"), 3*ChunkSize)) })
	}
	wg.Wait()
	if b.n != 60 {
		t.Errorf("%d writes for 60 frames", b.n)
	}
	frames, other, err := readAll(&b)
	if len(frames) != 60 || other != "" || err != io.EOF {
		t.Errorf("%d frames, other %q, %v", len(frames), other, err)
	}
}

func TestDataAndCopy(t *testing.T) {
	for _, size := range []int{0, 1, ChunkSize - 1, ChunkSize, ChunkSize + 1, 5*ChunkSize + 7} {
		body := strings.Repeat("0123456789", size/10+1)[:size]
		var data, copied bytes.Buffer
		if err := NewWriter(&data, goldenNonce).Data(KindData, goldenCall, []byte(body)); err != nil {
			t.Fatal(err)
		}
		if err := NewWriter(&copied, goldenNonce).Copy(goldenCall, iotest.HalfReader(strings.NewReader(body))); err != nil {
			t.Fatal(err)
		}
		if data.String() != copied.String() {
			t.Errorf("%d bytes: Data and Copy differ", size)
		}
		frames, _, _ := readAll(&data)
		got := ""
		for _, f := range frames {
			got += string(f.Body)
		}
		if got != body || len(frames) != (size+ChunkSize-1)/ChunkSize {
			t.Errorf("%d bytes: %d frames, %d bytes", size, len(frames), len(got))
		}
	}
	if err := NewWriter(io.Discard, goldenNonce).Copy(goldenCall, iotest.ErrReader(io.ErrClosedPipe)); err != io.ErrClosedPipe {
		t.Errorf("a failing reader: %v", err)
	}
}

func TestText(t *testing.T) {
	for _, s := range []string{"", "plain", "日本語\u2028<&>\x00\x7f", "\xff", "\xed\xa0\x80", "ok\xc3", strings.Repeat("\x80", 1000)} {
		b, err := json.Marshal(Text(s))
		if err != nil {
			t.Fatal(err)
		}
		var got Text
		if err := json.Unmarshal(b, &got); err != nil || string(got) != s {
			t.Errorf("%q came back as %q, %v", s, got, err)
		}
	}
	var text Text
	for _, bad := range []string{`{}`, `7`, `["!"]`, `[1]`} {
		if json.Unmarshal([]byte(bad), &text) == nil {
			t.Errorf("%s was read as %q", bad, text)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"abcdef", 3, "abc… (cut here)"},
		{"aé", 2, "a… (cut here)"},
		{"aé", 1, "a… (cut here)"},
		{"日本", 4, "日… (cut here)"},
		{"😀😀", 7, "😀… (cut here)"},
		{strings.Repeat("\x80", 20), 10, strings.Repeat("\x80", 7) + "… (cut here)"},
	} {
		if got := Cut(c.in, c.limit); string(got) != c.want {
			t.Errorf("Cut(%q, %d) = %q", c.in, c.limit, got)
		}
	}
}

func TestValidID(t *testing.T) {
	for id, want := range map[string]bool{
		"": false, "-": false, "a": true, "aZ09": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false,
		"../x": false, "a/b": false, "a b": false, "é": false, ".": false, "a\n": false, "a\x00": false,
	} {
		if ValidID(id) != want {
			t.Errorf("ValidID(%q) = %t", id, !want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("text", 3)
	f.Add("\xff\xfe", 1)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		b, err := json.Marshal(Text(s))
		if err != nil {
			t.Fatal(err)
		}
		var got Text
		if err := json.Unmarshal(b, &got); err != nil || string(got) != s {
			t.Errorf("%q came back as %q, %v", s, got, err)
		}
		if limit < 0 {
			return
		}
		cut := string(Cut(s, limit))
		head := strings.TrimSuffix(cut, "… (cut here)")
		if !strings.HasPrefix(s, head) || len(head) > max(limit, len(cut)) {
			t.Errorf("Cut(%q, %d) = %q", s, limit, cut)
		}
		if utf8.ValidString(s) && !utf8.ValidString(cut) {
			t.Errorf("Cut(%q, %d) = %q, cut inside a rune", s, limit, cut)
		}
	})
}
