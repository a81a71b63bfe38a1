//go:build !remotebox_runner

package daytona

import (
	"context"
	"time"
)

// keep makes w available for the next command.
func (s *sandbox) keep(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		w.drop()
		return
	}
	w.since = time.Now()
	s.idle = append(s.idle, w)
}

// take returns a worker that is ready, or nil.
func (s *sandbox) take() *worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return nil
	}
	w := s.idle[n-1]
	s.idle = s.idle[:n-1]
	return w
}

// forget gives up all workers: the sandbox may have been restarted, or is about to be.
func (s *sandbox) forget() {
	s.mu.Lock()
	idle := s.idle
	s.idle = nil
	s.mu.Unlock()
	for _, w := range idle {
		s.retire(w, false)
	}
}

// retire ends a worker in the background, as well as that can be done, and gets another one ready if
// that is wanted.
func (s *sandbox) retire(w *worker, another bool) {
	w.drop()
	s.background(func(ctx context.Context) {
		if another {
			if fresh, err := s.newWorker(ctx); err == nil {
				s.keep(fresh)
			}
		}
		w.end(ctx)
	})
}

// background runs f, for which nobody waits but letGo, and whose context letGo ends.
func (s *sandbox) background(f func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		return
	}
	until := s.until
	s.work.Go(func() {
		ctx, cancel := context.WithTimeout(until, killTime)
		defer cancel()
		f(ctx)
	})
}
