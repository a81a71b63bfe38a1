package registry

import (
	"context"
	"errors"
	"time"
)

// flight is work that several callers may wait for.
type flight struct {
	key     string
	cancel  context.CancelFunc
	done    chan struct{} // closed when value and err are set
	value   any
	err     error
	waiting int
	forgone *time.Timer // runs while nobody waits for work that a deadline was too short for
}

// forgoneTime is how long work goes on that nobody waits for.
const forgoneTime = 10 * time.Minute

// Shared is like Once, for what may take longer than a caller has: the work outlives its callers'
// deadlines, by ten minutes at the most, so that the next caller finds it done or under way. When the
// last caller that waits is cancelled, so is the work. A failure goes to those who wait and is not
// remembered.
func Shared[T any](ctx context.Context, key string, work func(context.Context) (T, error)) (T, error) {
	f := board(ctx, key, func(ctx context.Context) (any, error) { return work(ctx) })
	var zero T
	select {
	case <-f.done:
		f.leave(nil)
	case <-ctx.Done():
		f.leave(ctx.Err())
		return zero, ctx.Err()
	}
	if f.err != nil {
		return zero, f.err
	}
	return f.value.(T), nil
}

// board joins the flight for key, or begins one. The work's goroutine belongs to no caller: it ends
// with the work.
func board(ctx context.Context, key string, work func(context.Context) (any, error)) *flight {
	mu.Lock()
	defer mu.Unlock()
	if f, ok := flights[key]; ok {
		f.waiting++
		if f.forgone != nil {
			f.forgone.Stop()
		}
		return f
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{key: key, cancel: cancel, done: make(chan struct{}), waiting: 1}
	flights[key] = f
	go func() {
		defer cancel()
		f.value, f.err = work(ctx)
		mu.Lock()
		defer mu.Unlock()
		if f.err != nil {
			f.drop()
		}
		close(f.done)
	}()
	return f
}

// drop makes later callers begin anew. The caller holds mu.
func (f *flight) drop() {
	if flights[f.key] == f {
		delete(flights, f.key)
	}
}

// leave ends one caller's wait, because of why.
func (f *flight) leave(why error) {
	mu.Lock()
	defer mu.Unlock()
	f.waiting--
	switch {
	case errors.Is(why, context.Canceled):
		f.abandon()
	case why != nil && f.waiting == 0:
		f.forgone = time.AfterFunc(forgoneTime, func() {
			mu.Lock()
			defer mu.Unlock()
			f.abandon()
		})
	}
}

// abandon cancels the work if nobody waits for it. The caller holds mu, so that nobody joins what is
// about to end.
func (f *flight) abandon() {
	select {
	case <-f.done:
		return
	default:
	}
	if f.waiting == 0 {
		f.drop()
		f.cancel()
	}
}
