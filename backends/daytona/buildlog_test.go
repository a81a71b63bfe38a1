package daytona

import (
	"bytes"
	"strings"
	"testing"
)

// TestColours cuts a coloured log anywhere.
func TestColours(t *testing.T) {
	log := "a\x1b[0;31mred\x1b[0m\n\x1b[1mStep 1/2\x1b[m [x\n" + strings.Repeat("plain\n", 3)
	const want = "ared\nStep 1/2 [x\nplain\nplain\nplain\n"
	for size := 1; size <= len(log); size++ {
		l := &logReader{news: make(chan struct{})}
		var out bytes.Buffer
		for at := 0; at < len(log); at += size {
			l.add([]byte(log[at:min(at+size, len(log))]), &out)
		}
		if out.String() != want || string(l.kept) != want {
			t.Errorf("in pieces of %d: %q, kept %q", size, &out, l.kept)
		}
	}
}
