package backendtest

import (
	"context"
	"sync"

	"github.com/remote-box/remote/driver"
)

// counter wraps a backend and keeps account of its sandboxes. Optional interfaces of sandboxes
// stay visible, because the sandboxes themselves are passed on; Close is seen through a hook that
// the wrapper of each kind of sandbox carries.
type counter struct {
	inner driver.Backend

	mu      sync.Mutex
	started int
	closed  map[string]bool
}

func newCounter(b driver.Backend) *counter {
	return &counter{inner: b, closed: map[string]bool{}}
}

// open lists the sandboxes that are not closed.
func (c *counter) open() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var open []string
	for id, closed := range c.closed {
		if !closed {
			open = append(open, id)
		}
	}
	return open
}

// made is how many sandboxes Start has made.
func (c *counter) made() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

func (c *counter) note(id string, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if closed || !c.closed[id] {
		c.closed[id] = closed
	}
}

func (c *counter) wrapped() driver.Backend {
	b := &counted{c}
	if p, ok := c.inner.(driver.Pausable); ok {
		return &countedPausable{b, p}
	}
	return b
}

type counted struct{ c *counter }

type countedPausable struct {
	*counted
	p driver.Pausable
}

func (b *countedPausable) PauseSemantics() driver.PauseSemantics { return b.p.PauseSemantics() }

func (b *counted) Name() string { return b.c.inner.Name() }

func (b *counted) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	sb, err := b.c.inner.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	b.c.mu.Lock()
	b.c.started++
	b.c.mu.Unlock()
	b.c.note(sb.ID(), false)
	return b.c.wrap(sb), nil
}

func (b *counted) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	sb, err := b.c.inner.Attach(ctx, id, spec)
	if err != nil {
		return nil, err
	}
	b.c.note(sb.ID(), false)
	return b.c.wrap(sb), nil
}

// hook is the part that all wrapped sandboxes share.
type hook struct {
	driver.Sandbox
	c *counter
}

func (h hook) Close(ctx context.Context) error {
	err := h.Sandbox.Close(ctx)
	if err == nil {
		h.c.note(h.ID(), true)
	}
	return err
}

func (h hook) Image() string {
	if i, ok := h.Sandbox.(driver.Imaged); ok {
		return i.Image()
	}
	return ""
}

// wrap keeps the optional interfaces that the core looks for, in the combinations that backends
// have: local sandboxes, streaming ones and plain ones, each with files and pausing or without.
func (c *counter) wrap(sb driver.Sandbox) driver.Sandbox {
	h := hook{sb, c}
	pauser, canPause := sb.(driver.Pauser)
	files, hasFiles := sb.(driver.Files)
	switch s := sb.(type) {
	case driver.Local:
		return struct {
			hook
			localPart
			pausePart
		}{h, localPart{s}, pausePart{pauser}}
	case driver.Streamer:
		if canPause {
			return struct {
				hook
				streamPart
				pausePart
			}{h, streamPart{}, pausePart{pauser}}
		}
		return struct {
			hook
			streamPart
		}{h, streamPart{}}
	}
	switch {
	case canPause && hasFiles:
		return struct {
			hook
			pausePart
			filePart
		}{h, pausePart{pauser}, filePart{files}}
	case canPause:
		return struct {
			hook
			pausePart
		}{h, pausePart{pauser}}
	case hasFiles:
		return struct {
			hook
			filePart
		}{h, filePart{files}}
	}
	return h
}
