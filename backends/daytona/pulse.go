//go:build !remotebox_runner

package daytona

import (
	"net/http"
	"sync"
	"time"
)

// pulse is what a sandbox itself shows of its life, whatever new requests to it are met with.
type pulse struct {
	mu    sync.Mutex
	busy  int       // commands that are being followed, and uploads
	heard time.Time // when it answered, or a command printed, the last time
}

// enter counts something that goes on in the sandbox, until leave.
func (p *pulse) enter() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy++
}

func (p *pulse) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
}

// beat says that something has come from the sandbox.
func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = time.Now()
}

// felt reports whether something goes on in the sandbox, or has come from it after since.
func (p *pulse) felt(since time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy > 0 || p.heard.After(since)
}

// listener is a transport to a sandbox's toolbox that feels the sandbox's pulse.
type listener struct {
	http.RoundTripper
	pulse *pulse
}

// RoundTrip implements http.RoundTripper.
func (l listener) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode < 300 {
		l.pulse.beat()
	}
	return resp, err
}
