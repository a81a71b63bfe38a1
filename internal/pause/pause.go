// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits for d to pass, and reports whether it has: false means that ctx ended before.
func For(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
