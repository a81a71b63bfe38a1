package runner

import (
	"sync"

	"github.com/remote-box/remote/internal/wire"
)

// tapeSize is how much of each stream of a call's output is kept, in bytes, for a host whose
// connection broke: what was on its way then, and what is printed until it is back.
const tapeSize = 1 << 20

// tape is a call's output. It goes to the host that made the call or asks for its result, and to no
// other: one that has just connected again has not said yet how much it has.
type tape struct {
	call string
	keep int // bytes of each stream

	mu             sync.Mutex
	to             *wire.Writer // the listening host's, or nil
	turn           int          // of the connection that was last told of the call
	stdout, stderr reel
}

// reel is one stream of a tape, also as it is kept on disk.
type reel struct {
	Written int64  `json:"written,omitempty"` // in all
	Kept    []byte `json:"kept,omitempty"`    // the end of it
}

func (r *reel) add(p []byte, keep int) {
	r.Written += int64(len(p))
	if keep == 0 {
		return
	}
	r.Kept = append(r.Kept, p[max(0, len(p)-keep):]...)
	// It grows to twice as much, so that bytes are moved once for each time they are replaced.
	if len(r.Kept) > 2*keep {
		r.Kept = append(r.Kept[:0], r.Kept[len(r.Kept)-keep:]...)
	}
}

// from is what follows the first n bytes, as far as it is kept.
func (r *reel) from(n int64) []byte {
	missing := min(max(r.Written-n, 0), int64(len(r.Kept)))
	return r.Kept[int64(len(r.Kept))-missing:]
}

// last is the reel with at most keep bytes.
func (r *reel) last(keep int) reel { return reel{r.Written, r.from(r.Written - int64(keep))} }

// record adds to the tape and sends what it adds.
func (t *tape) record(kind wire.Kind, p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reel(kind).add(p, t.keep)
	t.send(kind, p)
}

func (t *tape) reel(kind wire.Kind) *reel {
	if kind == wire.KindStdout {
		return &t.stdout
	}
	return &t.stderr
}

func (t *tape) send(kind wire.Kind, p []byte) {
	if t.to != nil && len(p) > 0 && t.to.Data(kind, t.call, p) != nil {
		t.to = nil
	}
}

// resume sends to a host what it does not have yet, and from then on what is added, unless a later
// connection has asked for that already.
func (t *tape) resume(to *wire.Writer, turn int, has wire.Query) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turn < t.turn {
		return
	}
	t.to, t.turn = to, turn
	t.send(wire.KindStdout, t.stdout.from(has.Stdout))
	t.send(wire.KindStderr, t.stderr.from(has.Stderr))
}

// listener is the host that has all of the output so far, or nil.
func (t *tape) listener() *wire.Writer {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.to
}

// reels are both streams, as far as they are kept.
func (t *tape) reels() (stdout, stderr reel) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stdout.last(t.keep), t.stderr.last(t.keep)
}

// tapeWriter is one stream of a tape, as a writer.
type tapeWriter struct {
	tape *tape
	kind wire.Kind
}

func (w tapeWriter) Write(p []byte) (int, error) {
	w.tape.record(w.kind, p)
	return len(p), nil
}
