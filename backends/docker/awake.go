//go:build !remotebox_runner

package docker

import (
	"context"
	"errors"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/pause"
)

// keepAwake resumes the container whenever somebody pauses it, as long as a host is connected: its
// calls would wait for ever.
func (s *sandbox) keepAwake(ctx context.Context) {
	for ctx.Err() == nil {
		r := s.engine.Events(ctx, client.EventsListOptions{
			Filters: client.Filters{}.Add("container", s.id).Add("event", string(events.ActionPause)),
		})
		// It may have been paused before the engine was listened to.
		if c, err := s.engine.inspect(ctx, s.id); errors.Is(err, driver.ErrSandboxGone) {
			return
		} else if err == nil && c.State.Status == container.StatePaused {
			s.unpause(ctx)
		}
		s.unpauseOn(ctx, r)
		if !pause.For(ctx, time.Second) {
			return
		}
	}
}

func (s *sandbox) unpauseOn(ctx context.Context, r client.EventsResult) {
	for {
		select {
		case <-r.Messages:
			s.unpause(ctx)
		case <-r.Err:
			return
		case <-ctx.Done():
			return
		}
	}
}
