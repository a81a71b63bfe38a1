// Package errchain carries an error value across the wire: its text, its type, the errors that it
// wraps, and the identity of those that both sides know.
package errchain

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/remote-box/remote/internal/registry"
	"github.com/remote-box/remote/internal/wire"
)

// What one chain may hold, on both sides. An error that wraps more loses the rest, and says so.
const (
	maxNodes = 128
	maxDepth = 64
	maxText  = 32 << 10
)

// Encode describes err, which is not nil. The description fits into a frame.
func Encode(err error) *wire.Error {
	for _, e := range []*encoder{
		{top: maxText, text: maxText, data: maxText},
		{top: maxText, text: 4 << 10, data: maxText},
		{top: maxText, text: 512, data: maxText},
		{top: maxText, text: 64, data: 4 << 10},
		{top: 4 << 10, text: 64, data: 64},
		{top: 64},
	} {
		e.nodes, e.std = maxNodes, sentinels()
		n := e.node(err, 0)
		if f, ok := err.(fmt.Formatter); ok {
			if d := safely(func() string { return fmt.Sprintf("%+v", f) }); d != string(n.Message) {
				n.Detail = wire.Cut(d, e.top)
			}
		}
		if b, err := json.Marshal(n); err == nil && len(b) <= maxSize {
			return n
		}
	}
	return &wire.Error{Type: fmt.Sprintf("%T", err), Message: "an error too large to travel"}
}

// maxSize is how long the JSON of a chain may be: it shares a frame with other texts.
const maxSize = wire.MaxBody - 2*maxText

type encoder struct {
	top, text int // how long messages may be: the first, those below it
	data      int // how long errors' own JSON may be
	nodes     int
	std       map[string]error
}

func (e *encoder) node(err error, depth int) *wire.Error {
	e.nodes--
	limit := e.text
	if depth == 0 {
		limit = e.top
	}
	n := &wire.Error{
		Type:    string(wire.Cut(fmt.Sprintf("%T", err), 1<<10)),
		Message: wire.Cut(safely(err.Error), limit),
	}
	e.identify(n, err)
	wrapped := unwrap(err)
	for _, w := range wrapped {
		if w == nil {
			continue
		}
		if depth >= maxDepth || e.nodes <= 0 {
			n.Wraps = append(n.Wraps, &wire.Error{Type: "…", Message: "further errors are left out here"})
			break
		}
		n.Wraps = append(n.Wraps, e.node(w, depth+1))
	}
	return n
}

// identify fills in which known errors err is.
func (e *encoder) identify(n *wire.Error, err error) {
	is, _ := err.(interface{ Is(error) bool })
	match := func(name string, known error) {
		if known == nil {
			return
		}
		if same(err, known) {
			n.Known = max(n.Known, name) // of two names always the same
		} else if is != nil && safely(func() bool { return is.Is(known) }) {
			n.Is = append(n.Is, name)
		}
	}
	for name, known := range e.std {
		match(name, known)
	}
	registry.KnownErrors(func(k *registry.KnownError) bool {
		match(k.Name, k.Value)
		return true
	})
	slices.Sort(n.Is)
	if n.Known != "" {
		return
	}
	if name, data := encodeStd(err); name != "" {
		n.Known, n.Data = name, data
		return
	}
	registry.KnownErrors(func(k *registry.KnownError) bool {
		if k.Type != reflect.TypeOf(err) {
			return true
		}
		// MarshalJSON is the user's too.
		if data := safely(func() []byte { b, _ := json.Marshal(err); return b }); data != nil && len(data) <= e.data {
			n.Known, n.Data = k.Name, data
		}
		return false
	})
}

func unwrap(err error) []error {
	switch u := err.(type) {
	case interface{ Unwrap() error }:
		return []error{safely(u.Unwrap)}
	case interface{ Unwrap() []error }:
		return safely(u.Unwrap)
	}
	return nil
}

// safely calls a method of a user's error, which may panic (a nil pointer in an error is common);
// it then yields the zero value, or a text that says so.
func safely[T any](f func() T) (v T) {
	defer func() {
		if p := recover(); p != nil {
			if s, ok := any(&v).(*string); ok {
				*s = fmt.Sprintf("(its method panicked: %v)", p)
			}
		}
	}()
	return f()
}
