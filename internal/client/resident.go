package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/pause"
	"github.com/remote-box/remote/internal/wire"
)

// Resident reports whether the supervisor outlives the connection: then another one finds it and
// the calls under way.
func (c *Conn) Resident() bool { return c.name() != "" }

func (c *Conn) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.instance
}

// Detach ends the connection to a resident supervisor, which goes on.
func (c *Conn) Detach() {
	c.stop()
	<-c.done
}

// How long, and how often, a lost supervisor is looked for.
const (
	seekTime  = time.Minute
	seekPause = 20 * time.Millisecond
	seekMax   = 2 * time.Second
)

// How long, and after which first pause, a supervisor is dialed again for a call that has not begun.
const (
	againTime  = 10 * time.Second
	againPause = 20 * time.Millisecond
	againMax   = time.Second
)

// Again dials a supervisor that has been reached before until it is reached, for some time: the way
// to it may be interrupted, and no call has begun that could suffer from waiting.
func Again(ctx context.Context, dial func(context.Context) (*Conn, error)) (*Conn, error) {
	deadline := time.Now().Add(againTime)
	for wait := againPause; ; wait = min(2*wait, againMax) {
		c, err := dial(ctx)
		if _, away := errors.AsType[*Unreached](err); !away || ctx.Err() != nil || time.Now().After(deadline) {
			return c, err
		}
		if !pause.For(ctx, wait) {
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// Recover gets the reply of a call that has been lost with its connection: it asks for it over
// another one, which redial gets. The call itself is made again only if the supervisor never had
// it. An error is the one by which the call was lost, unless redial has found out more.
func (c *Conn) Recover(ctx context.Context, call *Call, lost error, redial func(context.Context, *Conn) (*Conn, error)) (*Reply, error) {
	if !c.Resident() || !recoverable(ctx, lost) {
		return nil, lost
	}
	broken := c
	deadline := time.Now().Add(seekTime)
	for wait := seekPause; recoverable(ctx, lost); wait = min(2*wait, seekMax) {
		next, err := redial(ctx, broken)
		switch {
		case err == nil && next.name() != c.name():
			return nil, lost // what became of it has been forgotten there
		case err == nil:
			var reply *Reply
			if reply, err = next.again(ctx, call); err == nil {
				return reply, nil
			}
			lost, broken = err, next
		case errors.Is(err, driver.ErrSandboxGone):
			return nil, err
		}
		if time.Now().After(deadline) || !pause.For(ctx, wait) {
			break
		}
	}
	if ctx.Err() == nil {
		return nil, lost
	}
	// It must not run on for nobody.
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	if next, err := redial(after, broken); err == nil {
		next.w.Frame(wire.KindCancel, call.id, nil)
	}
	return nil, ctx.Err()
}

// again asks for the reply of a call that was made over an earlier connection.
func (c *Conn) again(ctx context.Context, call *Call) (*Reply, error) {
	reply, err := c.exchange(ctx, call, func(_ context.Context, id string, call *Call, _ func()) error {
		c.w.Message(wire.KindQuery, id, wire.Query{Stdout: call.stdout.size(), Stderr: call.stderr.size()})
		return nil
	})
	if err == nil && reply.Response != nil && reply.Response.Outcome == wire.NoSuchCall {
		// What the earlier connection still carried is not read any more.
		return c.Call(ctx, call)
	}
	return reply, err
}

func recoverable(ctx context.Context, err error) bool {
	_, lost := errors.AsType[*Lost](err)
	return lost && ctx.Err() == nil && !errors.Is(err, driver.ErrSandboxGone)
}
