package client

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	var all strings.Builder
	for i := 0; all.Len() < 3*keepBytes; i++ {
		fmt.Fprintln(&all, "line", i)
	}
	for _, length := range []int{0, 1, startBytes, keepBytes - 1, keepBytes, keepBytes + 1, all.Len()} {
		text := all.String()[:length]
		for _, piece := range []int{1, 7, endBytes, 1 << 20} {
			var passed bytes.Buffer
			kept := &tail{w: &passed}
			for rest := text; rest != ""; rest = rest[min(piece, len(rest)):] {
				kept.Write([]byte(rest[:min(piece, len(rest))]))
			}
			want := text
			if left := length - keepBytes; left > 0 {
				want = fmt.Sprintf("%s\n… %d bytes …\n%s", text[:startBytes], left, text[length-endBytes:])
			}
			if got := string(kept.bytes()); got != want {
				t.Errorf("%d bytes in pieces of %d: %.80q …", length, piece, got)
			}
			if passed.String() != text || kept.size() != int64(length) {
				t.Errorf("%d bytes in pieces of %d: passed on %d, counted %d", length, piece, passed.Len(), kept.size())
			}
		}
	}
}
