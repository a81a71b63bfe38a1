package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/wire"
)

// box is a sandbox whose supervisor is a function.
type box struct {
	run func(ctx context.Context, in *wire.Reader, w *wire.Writer, raw io.Writer) (driver.Status, error)
}

func (box) ID() string                  { return "box" }
func (box) Streams()                    {}
func (box) Close(context.Context) error { return nil }

func (b box) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	nonce := ""
	for _, v := range cmd.Env {
		fmt.Sscanf(v, callproc.EnvNonce+"=%s", &nonce)
	}
	return b.run(ctx, wire.NewReader(cmd.Stdin, nonce, nil), wire.NewWriter(cmd.Stdout, nonce), cmd.Stdout)
}

func hello(w *wire.Writer) { w.Hello(wire.Hello{Version: wire.Version, PID: 1}) }

// nextCall waits for a call's id.
func nextCall(in *wire.Reader) (string, error) {
	for {
		f, err := in.Next()
		if err != nil || f.Kind == wire.KindCall {
			return f.Call, err
		}
	}
}

func dial(t *testing.T, b box) *Conn {
	t.Helper()
	c, err := Dial(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// within fails if f takes longer than the watchdog.
func within(t *testing.T, d time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("it takes longer than %v", d)
	}
}

// A result that was sent counts, even if its sender ends right afterwards.
func TestLastResultCounts(t *testing.T) {
	for range 200 {
		c := dial(t, box{func(_ context.Context, in *wire.Reader, w *wire.Writer, _ io.Writer) (driver.Status, error) {
			hello(w)
			id, err := nextCall(in)
			if err != nil {
				return driver.Status{}, err
			}
			w.Message(wire.KindResult, id, wire.Response{Version: wire.Version, Outcome: wire.OK, Size: 4})
			w.Data(wire.KindData, id, []byte("null"))
			w.Message(wire.KindExit, id, wire.Exit{})
			return driver.Status{Code: -1, Signal: "SIGKILL"}, nil
		}})
		r, err := c.Call(t.Context(), &Call{Input: Input{Data: []byte("1"), Size: 1}})
		if err != nil || string(r.Data) != "null" {
			t.Fatal(r, err)
		}
		if _, err := c.Call(t.Context(), &Call{}); !errors.Is(err, driver.ErrSandboxGone) {
			t.Fatalf("the next call: %v", err)
		}
	}
}

// An Exec that writes on while nobody reads must be able to end.
func TestExecIsNotHeldUp(t *testing.T) {
	flood := func(ctx context.Context, raw io.Writer) (driver.Status, error) {
		for {
			if _, err := raw.Write(make([]byte, 1<<16)); err != nil {
				return driver.Status{}, ctx.Err()
			}
		}
	}
	bad := func(w *wire.Writer) { w.Frame('?', "x y", nil) }
	t.Run("before hello", func(t *testing.T) {
		within(t, 20*time.Second, func() {
			_, err := Dial(t.Context(), box{func(ctx context.Context, _ *wire.Reader, w *wire.Writer, raw io.Writer) (driver.Status, error) {
				bad(w)
				return flood(ctx, raw)
			}})
			if _, ok := errors.AsType[*NotRunner](err); !ok {
				t.Error(err)
			}
		})
	})
	t.Run("during a call", func(t *testing.T) {
		c := dial(t, box{func(ctx context.Context, in *wire.Reader, w *wire.Writer, raw io.Writer) (driver.Status, error) {
			hello(w)
			nextCall(in)
			bad(w)
			return flood(ctx, raw)
		}})
		within(t, 20*time.Second, func() {
			_, err := c.Call(t.Context(), &Call{})
			if _, ok := errors.AsType[*wire.FrameError](err); !ok {
				t.Error(err)
			}
		})
	})
	t.Run("it does not read its input", func(t *testing.T) {
		c := dial(t, box{func(ctx context.Context, in *wire.Reader, w *wire.Writer, raw io.Writer) (driver.Status, error) {
			hello(w)
			id, _ := nextCall(in)
			w.Message(wire.KindResult, id, wire.Response{Version: wire.Version, Outcome: wire.Unknown})
			w.Message(wire.KindExit, id, wire.Exit{})
			<-ctx.Done()
			return driver.Status{}, ctx.Err()
		}})
		within(t, 20*time.Second, func() {
			input := make([]byte, wire.InlineMax)
			c.Call(t.Context(), &Call{Input: Input{Data: input, Size: int64(len(input))}})
		})
	})
	t.Run("closing", func(t *testing.T) {
		c := dial(t, box{func(ctx context.Context, in *wire.Reader, w *wire.Writer, raw io.Writer) (driver.Status, error) {
			hello(w)
			return flood(ctx, raw)
		}})
		within(t, 20*time.Second, func() { c.Close(t.Context()) })
	})
}

// A call whose context ends takes the others of its connection with it only if nobody answers.
func TestCancelIsAnswered(t *testing.T) {
	began := make(chan struct{}, 1)
	c := dial(t, box{func(ctx context.Context, in *wire.Reader, w *wire.Writer, _ io.Writer) (driver.Status, error) {
		hello(w)
		for {
			f, err := in.Next()
			switch {
			case err != nil || f.Kind == wire.KindQuit:
				return driver.Status{}, ctx.Err()
			case f.Kind == wire.KindCall:
				began <- struct{}{}
			case f.Kind == wire.KindCancel:
				w.Message(wire.KindExit, f.Call, wire.Exit{Code: 1})
			}
		}
	}})
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-began
			cancel()
		}()
		r, err := c.Call(ctx, &Call{})
		if err != nil || r.Response != nil || r.Status.Code != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
}
