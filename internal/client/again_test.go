package client

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/wire"
)

var errAway = errors.New("away")

// away is a sandbox that can't be reached the first n times.
func away(n int) box {
	return box{func(_ context.Context, in *wire.Reader, w *wire.Writer, _ io.Writer) (driver.Status, error) {
		if n--; n >= 0 {
			return driver.Status{}, errAway
		}
		hello(w)
		_, err := in.Next()
		return driver.Status{}, err
	}}
}

func TestAgain(t *testing.T) {
	b := away(4)
	c, err := Again(t.Context(), func(ctx context.Context) (*Conn, error) { return Dial(ctx, b) })
	if err != nil {
		t.Fatal(err)
	}
	c.Close(t.Context())
}

// What ends the wait is told together with what it was for.
func TestAgainEnds(t *testing.T) {
	b := away(1 << 30)
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	_, err := Again(ctx, func(ctx context.Context) (*Conn, error) {
		if tries++; tries == 3 {
			defer cancel()
		}
		return Dial(ctx, b)
	})
	if !errors.Is(err, errAway) || tries != 3 {
		t.Errorf("after %d: %v", tries, err)
	}
	if _, err := Again(ctx, func(context.Context) (*Conn, error) { return Dial(context.Background(), b) }); !errors.Is(err, errAway) {
		t.Errorf("with an ended context: %v", err)
	}
}

// Only a runner that was not reached is tried again.
func TestAgainOnlyUnreached(t *testing.T) {
	tries := 0
	b := box{func(_ context.Context, _ *wire.Reader, _ *wire.Writer, raw io.Writer) (driver.Status, error) {
		tries++
		io.WriteString(raw, "sh: not found\n")
		return driver.Status{Code: 127}, nil
	}}
	_, err := Again(t.Context(), func(ctx context.Context) (*Conn, error) { return Dial(ctx, b) })
	if n, ok := errors.AsType[*NotRunner](err); !ok || n.Status.Code != 127 || tries != 1 {
		t.Errorf("after %d: %v", tries, err)
	}
}
