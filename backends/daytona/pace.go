//go:build !remotebox_runner

package daytona

import (
	"context"
	"time"

	"github.com/remote-box/remote/internal/pause"
)

// pace is the time between looks at a state that is about to change.
type pace struct {
	now   time.Duration
	total time.Duration
}

const (
	firstPause = 100 * time.Millisecond
	steadyFor  = 2 * time.Second
	maxPause   = time.Second
)

// wait waits until it is time to look again. false means that ctx has ended.
func (p *pace) wait(ctx context.Context) bool {
	if p.now == 0 {
		p.now = firstPause
	} else if p.total > steadyFor {
		p.now = min(p.now+p.now/10, maxPause)
	}
	p.total += p.now
	return pause.For(ctx, p.now)
}
