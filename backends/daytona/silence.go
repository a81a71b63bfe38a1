//go:build !remotebox_runner

package daytona

import (
	"net/http"
	"time"
)

// silence is what comes from a sandbox that is said to be running and does not answer. Daytona does
// not notice when all of a sandbox's processes die at once, and goes on to say "started": its proxy
// then answers in the sandbox's place. That alone is a reason to restart the sandbox, which ends
// whatever runs in it. An error of the network, or a key that the proxy does not take, says nothing
// about the sandbox.
type silence struct {
	since   time.Time // the first failure
	last    time.Time // the last one
	dead    time.Time // the first of the answers that say that nothing runs there
	answers int       // how many there were since, nothing else and no sign of life among them
}

const (
	lifelessAnswers = 3                // how many it takes at least
	silenceBroken   = 30 * time.Second // after that long a failure begins a new silence
)

// add adds a failure.
func (q *silence) add(err error, p *pulse) {
	now := time.Now()
	if now.Sub(q.last) > silenceBroken {
		*q = silence{since: now}
	}
	q.last = now
	if q.answers == 0 {
		q.dead = now
	}
	if !lifeless(err) || p.felt(q.dead) {
		q.answers = 0
		return
	}
	q.answers++
}

// lasted reports whether there were only such answers for the time after.
func (q *silence) lasted(after time.Duration) bool {
	return q.answers >= lifelessAnswers && time.Since(q.dead) >= after
}

// lifeless reports whether err is the answer of Daytona's proxy for a sandbox in which nothing
// runs.
func lifeless(err error) bool {
	return says(err, http.StatusBadRequest, unstarted...) || says(err, http.StatusBadGateway) || says(err, http.StatusGatewayTimeout)
}

// unstarted are the proxy's words for a sandbox that does not run; they have no code.
var unstarted = []string{"is the sandbox started", "container ip", "runner info"}
