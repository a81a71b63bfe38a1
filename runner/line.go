package runner

import (
	"sync"

	"github.com/remote-box/remote/internal/wire"
)

// line is where a supervisor's frames go: the connection that its host made last, if there is one.
type line struct {
	mu   sync.Mutex
	w    *wire.Writer
	turn int // counts connections
}

func newLine(w *wire.Writer) *line { return &line{w: w} }

// connect sends what follows to w, or nowhere if w is nil.
func (l *line) connect(w *wire.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w = w
	l.turn++
}

// disconnect does the same as connect(nil) if w is still the connection.
func (l *line) disconnect(w *wire.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == w {
		l.w = nil
	}
}

// now is the present connection, or nil, and its number.
func (l *line) now() (*wire.Writer, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w, l.turn
}
