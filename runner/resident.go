package runner

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/remote-box/remote/internal/wire"
)

// How long a resident supervisor goes on without a host, in ticks: time during which the sandbox
// is frozen counts one tick at most, so that one that was paused for a week is there afterwards.
const (
	orphanTick  = 10 * time.Second
	orphanTicks = 12
)

// resident is a supervisor that outlives its connections: a container's first process. Its host
// connects again after a break or a pause, and finds the calls under way still running. A new
// connection takes the place of an older one.
type resident struct {
	*supervisor
	instance string
	quit     chan struct{} // closed when a host has asked for the end
	once     sync.Once

	turn    sync.Mutex // held while a connection is taken over
	present *connection
	mu      sync.Mutex
	hosts   int // connections that are open
}

// connection is one host's stream.
type connection struct {
	in   io.ReadCloser
	out  io.WriteCloser
	done chan struct{} // closed when nothing of it is handled any more
}

func newResident(s *supervisor) (*resident, error) {
	instance, err := s.state.instance()
	return &resident{supervisor: s, instance: instance, quit: make(chan struct{})}, err
}

// serve handles one connection until it ends. Its first line is the nonce of its frames.
func (r *resident) serve(in io.ReadCloser, out io.WriteCloser) {
	defer in.Close()
	defer out.Close()
	c := &connection{in: in, out: out, done: make(chan struct{})}
	defer close(c.done)
	r.count(1)
	defer r.count(-1)
	buffered := bufio.NewReader(in)
	nonce, err := readNonce(buffered)
	if err != nil {
		return
	}
	w := wire.NewWriter(out, nonce)
	r.takeOver(c, w)
	defer r.line.disconnect(w)
	if w.Hello(wire.Hello{Version: wire.Version, PID: os.Getpid(), Instance: r.instance}) != nil {
		return
	}
	if r.read(buffered, nonce) {
		r.once.Do(func() { close(r.quit) })
		return
	}
	r.dropUnsent()
}

// takeOver makes c the connection that frames go to, after the end of the one before it: no
// frame of that one is handled any more.
func (r *resident) takeOver(c *connection, w *wire.Writer) {
	r.turn.Lock()
	defer r.turn.Unlock()
	if old := r.present; old != nil {
		old.in.Close()
		old.out.Close()
		<-old.done
	}
	r.present = c
	r.line.connect(w)
}

func (r *resident) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts += n
}

// orphaned is closed when no host has been connected for too long.
func (r *resident) orphaned(stop <-chan struct{}) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		t := time.NewTicker(orphanTick)
		defer t.Stop()
		for ticks := 0; ticks < orphanTicks; ticks++ {
			select {
			case <-t.C:
			case <-stop:
				return
			}
			r.mu.Lock()
			if r.hosts > 0 {
				ticks = -1
			}
			r.mu.Unlock()
		}
		close(gone)
	}()
	return gone
}

// maxNonce bounds a connection's first line.
const maxNonce = 128

func readNonce(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for b.Len() <= maxNonce {
		c, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		if c == '\n' {
			if !wire.ValidID(b.String()) {
				break
			}
			return b.String(), nil
		}
		b.WriteByte(c)
	}
	return "", errors.New("a connection that does not begin with a nonce")
}
