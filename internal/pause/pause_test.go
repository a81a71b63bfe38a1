package pause

import (
	"context"
	"testing"
	"time"
)

func TestFor(t *testing.T) {
	if !For(t.Context(), time.Millisecond) {
		t.Error("it has not passed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if For(ctx, time.Hour) {
		t.Error("an hour has passed")
	}
}
