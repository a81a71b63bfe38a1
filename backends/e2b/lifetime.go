//go:build !remotebox_runner

package e2b

import (
	"context"
	"sync"
	"time"
)

// lifetime keeps account of how long a sandbox has to live.
type lifetime struct {
	mu       sync.Mutex
	end      time.Time
	users    int // processes that run
	renewing bool
	timer    *time.Timer        // while there are users
	stop     context.CancelFunc // of the last renewal
}

// interrupt ends a renewal that is under way.
func (l *lifetime) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil {
		l.stop()
	}
}

// renewed says that the sandbox has ttl left.
func (l *lifetime) renewed(ttl time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = time.Now().Add(ttl)
}

// use keeps the sandbox alive until release is called: its TTL is renewed whenever less than half
// of it is left, beside whatever its user does.
func (s *sandbox) use() (release func()) {
	l := &s.life
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users++
	s.watch()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.users--
		if l.users == 0 && l.timer != nil {
			l.timer.Stop()
			l.timer = nil
		}
	}
}

// watch renews the TTL now or sets a timer for when it will be time. The caller holds life.mu.
func (s *sandbox) watch() {
	l := &s.life
	if l.users == 0 || l.renewing || s.closing.Err() != nil {
		return
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if left := time.Until(l.end) - s.c.TTL/2; left > 0 {
		l.timer = time.AfterFunc(left, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			s.watch()
		})
		return
	}
	l.renewing = true
	var ctx context.Context
	ctx, l.stop = context.WithCancel(s.closing)
	s.work.Go(func() { s.renew(ctx) })
}

// renew renews the TTL. What comes instead of success is found out by the next request to the
// sandbox, so that a failure only means to try again soon.
func (s *sandbox) renew(ctx context.Context) {
	begin := time.Now()
	err := s.c.extend(ctx, s.id)
	l := &s.life
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	l.renewing = false
	if err == nil {
		l.end = begin.Add(s.c.TTL)
	} else {
		l.end = begin.Add(s.c.TTL/2 + min(s.c.TTL/10, 10*time.Second))
	}
	s.watch()
}
