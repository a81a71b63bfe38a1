package backendtest

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/proc"
)

// RunMany makes calls over sessions that are all open at once, and checks that this process is
// left with the goroutines, descriptors, children and temporary files that it had before.
func RunMany(t *testing.T, newConfig func(testing.TB) Config, sessions, calls int) {
	config := newConfig(t)
	c := newCounter(config.Backend)
	warm := remote.NewSession(c.wrapped()) // builds the runner, opens what stays open
	if _, err := size.Call(warm.Context(t.Context()), "x"); err != nil {
		t.Fatal(err)
	}
	if err := warm.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := take()
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			s := remote.NewSession(c.wrapped())
			defer func() {
				if err := s.Close(t.Context()); err != nil {
					t.Errorf("session %d: Close: %v", i, err)
				}
			}()
			for j := range calls / sessions {
				text := fmt.Sprintf("%d of %d", j, i)
				if n, err := size.Call(s.Context(t.Context()), text); err != nil || n != len(text) {
					t.Errorf("session %d, call %d: %d, %v", i, j, n, err)
				}
			}
		})
	}
	wg.Wait()
	if open := c.open(); len(open) > 0 {
		t.Errorf("sandboxes were not closed: %v", open)
	}
	// Goroutines end a moment after what they wait for.
	deadline := time.Now().Add(10 * time.Second)
	for {
		after := take()
		if after.goroutines <= before.goroutines && after.rest == before.rest {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("before: %+v\nafter: %+v\n%s", before, after, stacks(true))
		}
		runtime.Gosched()
	}
}

// holdings is what a process has of the system.
type holdings struct {
	goroutines int
	rest       struct{ descriptors, children, files int }
}

func take() holdings {
	h := holdings{goroutines: runtime.NumGoroutine()}
	fds, _ := os.ReadDir("/proc/self/fd")
	temp, _ := os.ReadDir(os.TempDir())
	h.rest.descriptors = len(fds)
	h.rest.children = len(proc.Children(os.Getpid()))
	h.rest.files = len(temp)
	return h
}
