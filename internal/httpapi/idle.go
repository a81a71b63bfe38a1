//go:build !remotebox_runner

package httpapi

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// Idle bounds the silence on a transfer: it cancels a context once nothing has happened for a
// while. A transfer as a whole may take as long as it needs. The time between Pause and the next
// Touch does not count.
type Idle struct {
	limit  time.Duration
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	done  bool
}

// ErrIdle is the cause of a context that an Idle cancelled.
type ErrIdle struct{ Limit time.Duration }

func (e *ErrIdle) Error() string { return fmt.Sprintf("nothing was received for %v", e.Limit) }

// WithIdle returns a context that ends when ctx does, when Stop is called, or when neither Touch
// nor Pause was called for limit.
func WithIdle(ctx context.Context, limit time.Duration) (context.Context, *Idle) {
	ctx, cancel := context.WithCancelCause(ctx)
	i := &Idle{limit: limit, cancel: cancel}
	i.timer = time.AfterFunc(limit, func() { cancel(&ErrIdle{limit}) })
	return ctx, i
}

// Touch says that something has happened, or that it is awaited from now on.
func (i *Idle) Touch() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.done {
		i.timer.Reset(i.limit)
	}
}

// Pause says that nothing is awaited.
func (i *Idle) Pause() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.timer.Stop()
}

// Stop ends the context.
func (i *Idle) Stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.done = true
	i.timer.Stop()
	i.cancel(context.Canceled)
}

// Reader is r with its reads counted as events.
func (i *Idle) Reader(r io.Reader) io.Reader { return &idleReader{r, i} }

type idleReader struct {
	r io.Reader
	i *Idle
}

func (r *idleReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.i.Touch()
	return n, err
}
