package daytona

import (
	"context"
	"errors"
	"testing"
)

// TestWaitingForLife pauses and resumes sandboxes to which something else is being done.
func TestWaitingForLife(t *testing.T) {
	s := &sandbox{life: make(chan struct{}, 1)}
	s.life <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, f := range map[string]func(context.Context) error{"Pause": s.Pause, "Resume": s.Resume} {
		if err := f(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
