//go:build !remotebox_runner

package daytonatest

import (
	"context"
	"sync"
)

// logBuffer is a log that is written by one and followed by many.
type logBuffer struct {
	mu      sync.Mutex
	data    []byte
	ended   bool
	changed chan struct{}
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(l.data, p...)
	l.wake()
	return len(p), nil
}

// end says that nothing more will be written.
func (l *logBuffer) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.wake()
}

func (l *logBuffer) wake() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

func (l *logBuffer) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.data[:len(l.data):len(l.data)]
}

// next waits for what follows the first off bytes. It returns nothing when the log has ended there.
func (l *logBuffer) next(ctx context.Context, off int) ([]byte, error) {
	for {
		l.mu.Lock()
		if off < len(l.data) {
			p := l.data[off:len(l.data):len(l.data)]
			l.mu.Unlock()
			return p, nil
		}
		if l.ended {
			l.mu.Unlock()
			return nil, nil
		}
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (l *logBuffer) has(off int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return off < len(l.data) || l.ended
}
