package client

import (
	"fmt"
	"io"
	"sync"
)

// How much of an output is kept for error messages: of its beginning, where a crash says what it is,
// and of its end.
const (
	keepBytes  = 4 << 10
	startBytes = 1 << 10
	endBytes   = keepBytes - startBytes
)

// tail keeps the beginning and the end of what is written to it, and passes everything on.
type tail struct {
	w     io.Writer
	mu    sync.Mutex
	n     int64 // written in all
	start []byte
	end   []byte // of what is not in start
}

func (t *tail) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.n += int64(len(p))
	first := min(startBytes-len(t.start), len(p))
	t.start = append(t.start, p[:first]...)
	rest := p[first:]
	t.end = append(t.end, rest[max(0, len(rest)-endBytes):]...)
	if over := len(t.end) - endBytes; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	t.mu.Unlock()
	if t.w != nil {
		t.w.Write(p)
	}
	return len(p), nil
}

// bytes is what is kept; what was left out between is counted.
func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := append([]byte(nil), t.start...)
	if left := t.n - int64(len(t.start)+len(t.end)); left > 0 {
		b = fmt.Appendf(b, "\n… %d bytes …\n", left)
	}
	return append(b, t.end...)
}

// head keeps the beginning of what is written to it, and passes everything on.
type head struct {
	w   io.Writer
	mu  sync.Mutex
	n   int64 // written in all
	buf []byte
}

func (h *head) size() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	h.n += int64(len(p))
	if room := keepBytes - len(h.buf); room > 0 {
		h.buf = append(h.buf, p[:min(room, len(p))]...)
	}
	h.mu.Unlock()
	if h.w != nil {
		h.w.Write(p)
	}
	return len(p), nil
}

func (h *head) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]byte(nil), h.buf...)
}
