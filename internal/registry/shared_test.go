package registry

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remote-box/remote/internal/rand"
)

// A caller's deadline does not end the work: the next caller finds it.
func TestSharedOutlivesDeadline(t *testing.T) {
	var calls atomic.Int32
	key := rand.Text(8)
	release := make(chan struct{})
	work := func(ctx context.Context) (int, error) {
		calls.Add(1)
		select {
		case <-release:
			return 7, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	if _, err := Shared(ctx, key, work); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the first caller: %v", err)
	}
	close(release)
	for range 2 {
		if v, err := Shared(t.Context(), key, work); v != 7 || err != nil {
			t.Errorf("a later caller: %v, %v", v, err)
		}
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("it was done %d times", n)
	}
}

// When the last caller that waits is cancelled, so is the work, and the next one begins anew.
func TestSharedIsCancelled(t *testing.T) {
	key := rand.Text(8)
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	forEver := func(ctx context.Context) (int, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return 0, ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := Shared(ctx, key, forEver)
		done <- err
	}()
	<-began
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if v, err := Shared(t.Context(), key, func(context.Context) (int, error) { return 8, nil }); v != 8 || err != nil {
		t.Errorf("the next caller: %v, %v", v, err)
	}
	<-ended
	// What is done stays, whoever is cancelled later.
	if _, err := Shared(ctx, key, forEver); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if v, err := Shared(t.Context(), key, forEver); v != 8 || err != nil {
		t.Errorf("the last caller: %v, %v", v, err)
	}
}

func TestSharedForgetsFailures(t *testing.T) {
	key, fail := rand.Text(8), errors.New("fail")
	if _, err := Shared(t.Context(), key, func(context.Context) (int, error) { return 0, fail }); !errors.Is(err, fail) {
		t.Error(err)
	}
	if v, err := Shared(t.Context(), key, func(context.Context) (int, error) { return 9, nil }); v != 9 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// Work that nobody comes back to ends.
func TestSharedIsForgone(t *testing.T) {
	key, ended := rand.Text(8), make(chan struct{})
	work := func(ctx context.Context) (int, error) {
		defer close(ended)
		<-ctx.Done()
		return 0, ctx.Err()
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	if _, err := Shared(ctx, key, work); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	mu.Lock()
	f := flights[key]
	mu.Unlock()
	if f == nil || f.forgone == nil {
		t.Fatal("nothing will end it")
	}
	f.forgone.Reset(0)
	<-ended
	if v, err := Shared(t.Context(), key, func(context.Context) (int, error) { return 6, nil }); v != 6 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}
