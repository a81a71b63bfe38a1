package remote_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/remote-box/remote"
)

func TestMap(t *testing.T) {
	inputs := make([]int, 40)
	for i := range inputs {
		inputs[i] = 2 * i
	}
	next := 0
	for out, err := range remote.Map(t.Context(), half, inputs, 4) {
		if err != nil || out != next {
			t.Fatalf("%d: %d, %v", next, out, err)
		}
		next++
	}
	if next != len(inputs) {
		t.Errorf("%d outputs of %d", next, len(inputs))
	}
	for range remote.Map(t.Context(), half, nil, 4) {
		t.Error("an output without an input")
	}
}

func TestMapErrors(t *testing.T) {
	inputs := []int{2, 4, 5, 6, 7, 8}
	var outs []int
	var errs []error
	for out, err := range remote.Map(t.Context(), half, inputs, 2) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		outs = append(outs, out)
	}
	if len(outs) != 2 || len(errs) != 1 || !errors.Is(errs[0], errOdd) {
		t.Errorf("first error: %v, %v", outs, errs)
	}
	outs, errs = nil, nil
	for out, err := range remote.Map(t.Context(), half, inputs, 2, remote.AllErrors()) {
		outs = append(outs, out)
		errs = append(errs, err)
	}
	if len(errs) != 6 || !errors.Is(errs[2], errOdd) || !errors.Is(errs[4], errOdd) || errs[5] != nil || outs[5] != 4 {
		t.Errorf("all errors: %v, %v", outs, errs)
	}
}

// TestMapBreak leaves the loop early: what runs is cancelled, and has ended afterwards.
func TestMapBreak(t *testing.T) {
	inputs := append([]int{0}, make([]int, 20)...)
	for i := range inputs[1:] {
		inputs[i+1] = 1 // these hang until they are cancelled
	}
	for _, err := range remote.Map(t.Context(), gated, inputs, 3) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if n := inGate.Load(); n != 0 {
		t.Errorf("%d calls still run", n)
	}
	if n := mostInGate.Load(); n > 3 {
		t.Errorf("%d calls ran at once", n)
	}
}

var inGate, mostInGate atomic.Int64

// gated counts on the host how many of its calls run.
var gated = remote.New(func(ctx context.Context, n int) (int, error) {
	if n == 1 {
		<-ctx.Done()
	}
	return n, ctx.Err()
}, remote.Name("gated"), remote.Middleware(func(next remote.Handler) remote.Handler {
	return func(ctx context.Context, c *remote.Invocation) (any, error) {
		n := inGate.Add(1)
		defer inGate.Add(-1)
		for most := mostInGate.Load(); n > most && !mostInGate.CompareAndSwap(most, n); most = mostInGate.Load() {
		}
		return next(ctx, c)
	}
}))
