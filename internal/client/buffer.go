package client

import (
	"io"
	"sync"
)

// keepBytes is how much of an output is kept for error messages.
const keepBytes = 4 << 10

// tail keeps the end of what is written to it, and passes everything on.
type tail struct {
	w   io.Writer
	mu  sync.Mutex
	n   int64 // written in all
	buf []byte
}

func (t *tail) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.n += int64(len(p))
	t.buf = append(t.buf, p[max(0, len(p)-keepBytes):]...)
	if over := len(t.buf) - keepBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	t.mu.Unlock()
	if t.w != nil {
		t.w.Write(p)
	}
	return len(p), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.buf...)
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
