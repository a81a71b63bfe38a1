package daytona_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/driver"
)

// peak is the largest heap while f runs, above what it was before.
func peak(f func()) uint64 {
	var before, m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(5 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
			case <-stop:
				return
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return max(most.Load(), before.HeapAlloc) - before.HeapAlloc
}

// TestTransferMemory moves a file of 256 MiB, or of what REMOTE_BOX_TRANSFER_MB says, both ways
// without ever holding it.
func TestTransferMemory(t *testing.T) {
	size := int64(64 << 20)
	if n, err := strconv.ParseInt(os.Getenv("REMOTE_BOX_TRANSFER_MB"), 10, 64); err == nil {
		size = n << 20
	}
	srv := isolated(t, daytonatest.Config{})
	b := on(srv)
	sb, err := b.Start(t.Context(), driver.Spec{Program: program(t), Once: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close(context.WithoutCancel(t.Context()))
	files := sb.(driver.Files)
	const path = "/tmp/large"
	const limit = 16 << 20
	if up := peak(func() { err = files.WriteFile(t.Context(), path, io.LimitReader(zeros{}, size)) }); err != nil || up > limit {
		t.Errorf("writing %d MiB took %d KiB: %v", size>>20, up>>10, err)
	} else {
		t.Logf("writing %d MiB took %d KiB", size>>20, up>>10)
	}
	in := srv.Inject(daytonatest.Fault{Path: "/files/download", Cut: 10 << 20, Times: 2})
	var n int64
	down := peak(func() {
		r, openErr := files.ReadFile(t.Context(), path)
		if err = openErr; err != nil {
			return
		}
		defer r.Close()
		n, err = io.Copy(io.Discard, r)
	})
	if err != nil || n != size || down > limit {
		t.Errorf("reading %d MiB took %d KiB: %d bytes, %v", size>>20, down>>10, n, err)
	} else {
		t.Logf("reading %d MiB took %d KiB", size>>20, down>>10)
	}
	if in.Struck() != 2 {
		t.Errorf("the transfer broke %d times", in.Struck())
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
