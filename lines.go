//go:build !remotebox_runner

package remote

import (
	"io"
	"strings"
	"sync"
)

// sharedLines is where the lines of several writers go.
type sharedLines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *sharedLines) write(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	io.WriteString(l.w, line)
}

// lineWriter passes whole lines on, with a prefix. It is not for use from several goroutines.
type lineWriter struct {
	prefix string
	to     *sharedLines
	mu     sync.Mutex
	rest   string
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest += string(p)
	for {
		line, rest, ok := strings.Cut(w.rest, "\n")
		if !ok {
			return len(p), nil
		}
		w.to.write(w.prefix + line + "\n")
		w.rest = rest
	}
}

func (w *lineWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rest != "" {
		w.to.write(w.prefix + w.rest + "\n")
	}
	w.rest = ""
	return nil
}
