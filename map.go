package remote

import (
	"context"
	"fmt"
	"iter"
	"sync"
)

// MapOption sets something about a Map.
type MapOption func(*mapSettings)

type mapSettings struct {
	all bool
}

// AllErrors makes Map go on after an error, so that every input has its output or its error. By
// default the first error, in the order of the inputs, is the last thing that Map yields.
func AllErrors() MapOption { return func(s *mapSettings) { s.all = true } }

// Map calls r for every input, at most n calls at a time, and yields outputs or errors in the
// order of the inputs. After the first error, or when the loop over it ends early, calls not yet
// begun are left out, those under way are cancelled, and all have ended before the loop is left.
//
//	for out, err := range remote.Map(ctx, Resize, images, 8) { … }
//
// Map does nothing until it is ranged over; each range makes the calls again.
func Map[In, Out any](ctx context.Context, r *Remote[In, Out], inputs []In, n int, opts ...MapOption) iter.Seq2[Out, error] {
	if n < 1 {
		panic(fmt.Sprintf("remote.Map: %d calls at a time", n))
	}
	var s mapSettings
	for _, o := range opts {
		o(&s)
	}
	return func(yield func(Out, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		type result struct {
			out Out
			err error
		}
		// Workers run ahead of the loop, but not without bound: at most ahead results wait for
		// their turn behind a slow one.
		ahead := min(4*n, len(inputs))
		results := make([]chan result, len(inputs))
		for i := range results {
			results[i] = make(chan result, 1)
		}
		work := make(chan int, len(inputs))
		defer close(work)
		defer cancel()
		for range min(n, len(inputs)) {
			wg.Go(func() {
				for i := range work {
					out, err := r.Call(ctx, inputs[i])
					results[i] <- result{out, err}
				}
			})
		}
		for i := range ahead {
			work <- i
		}
		for i := range inputs {
			res := <-results[i]
			if !s.all && res.err != nil {
				cancel()
				yield(res.out, res.err)
				return
			}
			if next := i + ahead; next < len(inputs) {
				work <- next
			}
			if !yield(res.out, res.err) {
				return
			}
		}
	}
}
