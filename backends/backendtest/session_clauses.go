package backendtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/remote-box/remote"
)

// session runs f in a session that is closed afterwards.
func (t *tester) session(f func(ctx context.Context, s *remote.Session), opts ...remote.SessionOption) {
	s := remote.NewSession(t.backend(), opts...)
	defer func() {
		if err := s.Close(t.ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	f(s.Context(t.ctx), s)
}

func endsSeen(t *tester) {
	t.session(func(ctx context.Context, _ *remote.Session) {
		for limit := time.Second; ; limit *= 2 { // a slow sandbox may not get as far as the function
			began := false
			late, cancel := context.WithTimeout(ctx, limit)
			late = remote.WithOutput(late, &trigger{text: "ready", pull: func() { began = true }}, nil)
			_, err := why.Call(late, "late")
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			if began {
				break
			}
		}
		canceled, cancel := context.WithCancel(ctx)
		if _, err := why.Call(remote.WithOutput(canceled, &trigger{text: "ready", pull: cancel}, nil), "cancelled"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		for note, want := range map[string]error{"late": context.DeadlineExceeded, "cancelled": context.Canceled} {
			var got string
			t.must(poll(ctx, func() bool {
				var err error
				got, err = read.Call(ctx, note)
				return err == nil
			}))
			if got != want.Error() {
				t.Errorf("the function saw %q, not %q", got, want)
			}
		}
	})
}

func stubbornEnds(t *tester) {
	t.session(func(ctx context.Context, _ *remote.Session) {
		canceled, cancel := context.WithCancel(ctx)
		defer cancel()
		canceled = remote.WithOutput(canceled, &trigger{text: "ready", pull: cancel}, nil)
		t.within(20*time.Second, "ending a stubborn function", func() {
			if _, err := stubborn.Call(canceled, "pids"); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
		pids, err := read.Call(ctx, "pids")
		t.must(err)
		var child, parent int
		fmt.Sscan(pids, &child, &parent)
		for _, pid := range []int{child, parent} {
			running, err := alive.Call(ctx, pid)
			t.must(err)
			if pid == 0 || running {
				t.Errorf("process %d of %q still runs", pid, pids)
			}
		}
	})
}

func cancelledEarly(t *tester) {
	t.session(func(ctx context.Context, _ *remote.Session) {
		t.must(second(size.Call(ctx, "x")))
		for i := range 12 {
			soon, cancel := context.WithTimeout(ctx, time.Duration(i)*200*time.Microsecond)
			_, err := wait.Call(remote.WithOutput(soon, nil, nil), nothing{})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after %v: %v", time.Duration(i)*200*time.Microsecond, err)
			}
		}
		t.must(second(size.Call(ctx, "x")))
		if made := t.sandboxes.made(); made != 1 {
			t.Errorf("%d sandboxes were made", made)
		}
	})
}

func second[T any](_ T, err error) error { return err }

func sessionFiles(t *tester) {
	name := tempName()
	t.session(func(ctx context.Context, _ *remote.Session) {
		_, err := write.Call(ctx, [2]string{name, "text"})
		t.must(err)
		got, err := read.Call(ctx, name)
		t.must(err)
		if got != "text" {
			t.Errorf("the second call read %q", got)
		}
		t.session(func(other context.Context, _ *remote.Session) {
			if _, err := read.Call(other, name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("another session's file: %v", err)
			}
		})
	})
}

func sessionVariables(t *tester) {
	t.session(func(ctx context.Context, _ *remote.Session) {
		for range 2 {
			n, err := counting.Call(ctx, nothing{})
			t.must(err)
			if n != 1 {
				t.Errorf("a package variable counted to %d", n)
			}
		}
	})
}

func sessionBackground(t *tester) {
	t.session(func(ctx context.Context, _ *remote.Session) {
		pid, err := background.Call(ctx, nothing{})
		t.must(err)
		for range 3 {
			running, err := alive.Call(ctx, pid)
			t.must(err)
			if !running {
				t.Fatalf("the process has ended")
			}
		}
	})
}

func sessionSerial(t *tester) {
	t.session(func(ctx context.Context, _ *remote.Session) {
		t.parallel(4, func(int) error {
			_, err := alone.Call(ctx, "alone")
			return err
		})
	})
}

func sessionConcurrent(t *tester) {
	t.session(func(ctx context.Context, _ *remote.Session) {
		names := []string{"a", "b", "c"}
		t.parallel(len(names), func(i int) error {
			_, err := meet.Call(ctx, [2]string{names[i], names[(i+1)%len(names)]})
			return err
		})
	}, remote.Concurrency(3))
}

func sessionOne(t *tester) {
	t.session(func(ctx context.Context, s *remote.Session) {
		t.parallel(8, func(i int) error {
			if i%2 == 0 {
				return s.Start(ctx)
			}
			_, err := size.Call(ctx, "x")
			return err
		})
		if made := t.sandboxes.made(); made != 1 {
			t.Errorf("%d sandboxes were made", made)
		}
	}, remote.Concurrency(4))
}

func sessionRef(t *tester) {
	name := tempName()
	s := remote.NewSession(t.backend())
	defer s.Close(t.ctx)
	if _, err := s.Ref(); err == nil {
		t.Errorf("a ref of a session that has no sandbox")
	}
	_, err := write.Call(s.Context(t.ctx), [2]string{name, "kept"})
	t.must(err)
	ref, err := s.Pause(t.ctx)
	t.must(err)
	b, err := json.Marshal(ref)
	t.must(err)
	if len(b) > 1024 {
		t.Errorf("the ref's JSON has %d bytes", len(b))
	}
	for _, hidden := range t.Hidden {
		if contains([]string{string(b)}, hidden) {
			t.Errorf("the ref holds a key")
		}
	}
	var found remote.SessionRef
	t.must(json.Unmarshal(b, &found))
	again, err := remote.Resume(t.ctx, found, t.backend())
	t.must(err)
	got, err := read.Call(again.Context(t.ctx), name)
	if err != nil || got != "kept" {
		t.Errorf("the resumed session read %q, %v", got, err)
	}
	t.must(again.Close(t.ctx))
	if _, err := remote.Resume(t.ctx, found, t.backend()); !errors.Is(err, remote.ErrSandboxGone) {
		t.Errorf("resuming a closed session: %v", err)
	}
	found.Backend = "another"
	if _, err := remote.Resume(t.ctx, found, t.backend()); err == nil {
		t.Errorf("another backend's ref was taken")
	}
}

func sessionPause(t *tester) {
	name := tempName()
	t.session(func(ctx context.Context, s *remote.Session) {
		_, err := write.Call(ctx, [2]string{name, "kept"})
		t.must(err)
		for range 2 {
			first, err := s.Pause(ctx)
			t.must(err)
			second, err := s.Pause(ctx)
			t.must(err)
			if first != second {
				t.Errorf("two pauses gave %v and %v", first, second)
			}
			got, err := read.Call(ctx, name)
			t.must(err)
			if got != "kept" {
				t.Errorf("after a pause: %q", got)
			}
		}
		if made := t.sandboxes.made(); made != 1 {
			t.Errorf("%d sandboxes were made", made)
		}
	})
}

func sessionClose(t *tester) {
	s := remote.NewSession(t.backend())
	ready := make(chan struct{})
	ctx := remote.WithOutput(s.Context(t.ctx), &trigger{text: "ready", pull: func() { close(ready) }}, nil)
	ended := make(chan error, 1)
	go func() {
		_, err := wait.Call(ctx, nothing{})
		ended <- err
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("the call ended by itself: %v", err)
	}
	dead, cancel := context.WithCancel(t.ctx)
	cancel()
	t.must(s.Close(dead))
	if err := <-ended; !errors.Is(err, remote.ErrSessionClosed) {
		t.Errorf("the call under way: %v", err)
	}
	t.must(s.Close(t.ctx))
	if _, err := size.Call(s.Context(t.ctx), "x"); !errors.Is(err, remote.ErrSessionClosed) {
		t.Errorf("a call after Close: %v", err)
	}
	if err := s.Start(t.ctx); !errors.Is(err, remote.ErrSessionClosed) {
		t.Errorf("Start after Close: %v", err)
	}
}

func sessionRace(t *tester) {
	for round := range 4 {
		s := remote.NewSession(t.backend(), remote.Concurrency(2))
		ctx := s.Context(t.ctx)
		closing := make(chan struct{})
		var wg sync.WaitGroup
		for _, f := range []func() error{
			func() error { return s.Start(ctx) },
			func() error { _, err := s.Pause(ctx); return err },
			func() error { _, err := size.Call(ctx, "x"); return err },
			func() error { _, err := counting.Call(ctx, nothing{}); return err },
			func() error { _, err := s.Pause(ctx); return err },
			func() error { _, err := size.Call(ctx, "y"); return err },
		} {
			wg.Go(func() {
				if err := f(); err != nil && !errors.Is(err, remote.ErrSessionClosed) {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		wg.Go(func() {
			<-closing
			t.within(30*time.Second, "Close", func() {
				if err := s.Close(ctx); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
		})
		// Before, in the middle of and after the rest.
		time.AfterFunc(time.Duration(round)*15*time.Millisecond, func() { close(closing) })
		wg.Wait()
		t.noneLeft()
	}
}

func sessionGone(t *tester) {
	if t.Remove == nil {
		return
	}
	s := remote.NewSession(t.backend())
	defer s.Close(t.ctx)
	_, err := size.Call(s.Context(t.ctx), "x")
	t.must(err)
	ref, err := s.Ref()
	t.must(err)
	t.must(t.Remove(t.ctx, ref.Sandbox))
	for range 2 {
		if _, err := size.Call(s.Context(t.ctx), "x"); !errors.Is(err, remote.ErrSandboxGone) {
			t.Errorf("a call in a sandbox that was removed: %v", err)
		}
	}
	if made := t.sandboxes.made(); made != 1 {
		t.Errorf("another sandbox was made")
	}
}

// parallel runs f n times at once and records errors.
func (t *tester) parallel(n int, f func(i int) error) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := f(i); err != nil {
				t.Errorf("%d of %d at once: %v", i, n, err)
			}
		})
	}
	wg.Wait()
}
