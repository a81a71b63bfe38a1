package daytona_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
)

// BenchmarkCall makes calls over a network of 50 ms latency, beside one bare round trip over it:
// warm ones in both ways in which a command can be sent, and cold ones.
func BenchmarkCall(b *testing.B) {
	_, fast := serve(b, daytonatest.Config{}) // builds the runner
	_ = fast
	srv := isolated(b, daytonatest.Config{LogPoll: 20 * time.Millisecond})
	backend := on(srv)
	if _, err := testfunc.Size.Call(remote.WithBackend(b.Context(), backend), "x"); err != nil {
		b.Fatal(err)
	}
	in := srv.Inject(daytonatest.Fault{Times: -1, Delay: 50 * time.Millisecond})
	defer in.Remove()
	warm := func(backend daytona.Backend, input string) func(*testing.B) {
		return func(b *testing.B) {
			s := remote.NewSession(backend)
			defer s.Close(b.Context())
			ctx := s.Context(b.Context())
			if _, err := testfunc.Size.Call(ctx, input); err != nil {
				b.Fatal(err)
			}
			measure(b, func() error {
				_, err := testfunc.Size.Call(ctx, input)
				return err
			})
		}
	}
	b.Run("round trip", func(b *testing.B) {
		measure(b, func() error {
			resp, err := http.Get(srv.APIURL() + "/health")
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		})
	})
	b.Run("warm", warm(backend, "x"))
	b.Run("warm, direct", warm(daytona.Direct(backend), "x"))
	b.Run("warm, 60 KiB", warm(backend, string(make([]byte, 10<<10))))
	b.Run("cold", func(b *testing.B) {
		ctx := remote.WithBackend(b.Context(), backend)
		measure(b, func() error {
			_, err := testfunc.Size.Call(ctx, "x")
			return err
		})
	})
}

// measure reports the median of what f takes.
func measure(b *testing.B, f func() error) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

// BenchmarkResult makes a call with a result of 256 MiB and reports how much memory the host takes at
// most, above what it had: the result itself is one of the sizes.
func BenchmarkResult(b *testing.B) {
	const size = 256 << 20
	_, backend := serve(b, daytonatest.Config{})
	s := remote.NewSession(backend)
	defer s.Close(context.WithoutCancel(b.Context()))
	ctx := s.Context(b.Context())
	if err := s.Start(ctx); err != nil {
		b.Fatal(err)
	}
	var most uint64
	for b.Loop() {
		var n int
		var err error
		most = max(most, peak(func() {
			var text string
			text, err = testfunc.Fill.Call(ctx, size)
			n = len(text)
		}))
		if n != size || err != nil {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(most)/size, "peak/size")
	b.ReportMetric(float64(most)/(1<<20), "peak-MiB")
}
