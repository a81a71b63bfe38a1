//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// limits counts requests by throttler in windows of one Minute.
type limits struct {
	cfg     *Config
	mu      sync.Mutex
	windows map[string]*window
}

type window struct {
	ends time.Time
	used int
}

// pass counts a request and writes the headers that say how many are left.
func (l *limits) pass(w http.ResponseWriter, throttler string) bool {
	limit, limited := l.cfg.RateLimits[throttler]
	if !limited {
		limit = 10_000
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.windows == nil {
		l.windows = map[string]*window{}
	}
	win := l.windows[throttler]
	if win == nil || now.After(win.ends) {
		win = &window{ends: now.Add(l.cfg.Minute)}
		l.windows[throttler] = win
	}
	win.used++
	seconds := strconv.Itoa(int(win.ends.Sub(now)/time.Second) + 1)
	w.Header().Set("X-RateLimit-Limit-"+throttler, strconv.Itoa(limit))
	w.Header().Set("X-RateLimit-Remaining-"+throttler, strconv.Itoa(max(0, limit-win.used)))
	w.Header().Set("X-RateLimit-Reset-"+throttler, seconds)
	if limited && win.used > limit {
		w.Header().Set("Retry-After-"+throttler, seconds)
		return false
	}
	return true
}
