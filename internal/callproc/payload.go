package callproc

import (
	"fmt"

	"github.com/remote-box/remote/internal/wire"
)

// TooLarge says that a payload is larger than its receiver takes.
type TooLarge struct {
	Size, Limit int64
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("a payload of %d bytes, over the limit of %d", e.Size, e.Limit)
}

// Payload collects a payload whose size was announced. The memory it holds follows what has
// arrived, not what was announced.
type Payload struct {
	size int64
	data []byte
}

// Begin sets the announced size; limit 0 means none.
func (p *Payload) Begin(size, limit int64) error {
	if size < 0 {
		return &wire.FrameError{Reason: "a payload of negative size"}
	}
	if limit > 0 && size > limit {
		return &TooLarge{size, limit}
	}
	p.size = size
	p.data = make([]byte, 0, min(size, 1<<20))
	return nil
}

// Add appends a piece.
func (p *Payload) Add(piece []byte) error {
	if int64(len(p.data)+len(piece)) > p.size {
		return &wire.FrameError{Reason: "a payload larger than announced"}
	}
	if len(piece) == 0 {
		return &wire.FrameError{Reason: "an empty piece of a payload"}
	}
	if need := len(p.data) + len(piece); need > cap(p.data) {
		// Doubling, but never beyond what was announced.
		grown := make([]byte, len(p.data), min(p.size, int64(2*need)))
		copy(grown, p.data)
		p.data = grown
	}
	p.data = append(p.data, piece...)
	return nil
}

// Complete reports whether all has arrived.
func (p *Payload) Complete() bool { return int64(len(p.data)) >= p.size }

// Bytes is what has arrived.
func (p *Payload) Bytes() []byte { return p.data }
