//go:build !remotebox_runner

package e2b

import (
	"sync"
	"time"
)

const (
	// outageTime is how long a sandbox is tried to be reached that can't be.
	outageTime = 12 * time.Second
	// calmTime is how long after a refusal another one is one of a new outage.
	calmTime = 30 * time.Second
)

// outage keeps account of how long a sandbox has not been reached. It is the one limit for all that
// try to reach it, so that those who repeat what has failed do not multiply each other's repetitions.
type outage struct {
	mu        sync.Mutex
	since     time.Time // of its first refusal; zero while the sandbox is reached
	last      time.Time // refusal
	connected bool      // E2B was asked to connect
}

// over says that the sandbox was reached.
func (o *outage) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.since = time.Time{}
}

// refused says that it was not, and tells whether it is time to give up.
func (o *outage) refused() (spent bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() || now.Sub(o.last) > calmTime {
		o.since, o.connected = now, false
	}
	o.last = now
	return now.Sub(o.since) > outageTime
}

// connect reports whether E2B should be asked to connect: once, and not after the first refusal, which
// may be one of those that E2B gives now and then.
func (o *outage) connect() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.connected || o.last.Equal(o.since) {
		return false
	}
	o.connected = true
	return true
}
