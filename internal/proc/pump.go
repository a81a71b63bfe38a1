package proc

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// Pump passes on what is written into a pipe. It knows the difference between a process that has
// ended and a pipe that has: what a process left running in the background may hold the pipe open
// for as long as the sandbox lives, and must be able to write to it.
type Pump struct {
	r       *os.File
	drained chan struct{} // all that was written before Drain has been passed on
	done    chan struct{} // the goroutine has ended
}

// NewPump starts to copy r, the reading end of a pipe, to w. Errors of w are ignored. The pump
// owns r.
func NewPump(r *os.File, w io.Writer) *Pump {
	p := &Pump{r: r, drained: make(chan struct{}), done: make(chan struct{})}
	go p.run(w)
	return p
}

// Drain returns when all that has been written into the pipe until now is passed on. What is
// written later is dropped.
func (p *Pump) Drain() {
	p.r.SetReadDeadline(time.Unix(1, 0))
	<-p.drained
}

// Open returns the pipe if somebody may still write into it, else nil. The pump goes on reading it.
func (p *Pump) Open() *os.File {
	select {
	case <-p.done:
		return nil
	default:
		return p.r
	}
}

// Close ends the pump, whoever still holds the pipe.
func (p *Pump) Close() {
	p.r.Close()
	<-p.done
}

func (p *Pump) run(w io.Writer) {
	defer close(p.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := p.r.Read(buf)
		if n > 0 {
			w.Write(buf[:n])
		}
		if err == nil {
			continue
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			p.rest(w, buf)
			close(p.drained)
			p.discard(buf)
			return
		}
		close(p.drained)
		p.r.Close()
		return
	}
}

// rest passes on what the pipe holds at this moment.
func (p *Pump) rest(w io.Writer, buf []byte) {
	p.r.SetReadDeadline(time.Time{})
	raw, err := p.r.SyscallConn()
	if err != nil {
		return
	}
	for {
		var n int
		var rerr error
		err := raw.Read(func(fd uintptr) bool {
			n, rerr = syscall.Read(fdOf(fd), buf)
			return true // also when there is nothing: do not wait
		})
		if err == nil && rerr == syscall.EINTR {
			continue
		}
		if err != nil || rerr != nil || n <= 0 {
			return
		}
		w.Write(buf[:n])
	}
}

// discard keeps the pipe flowing, so that what still writes into it neither blocks nor is killed
// by SIGPIPE.
func (p *Pump) discard(buf []byte) {
	for {
		if _, err := p.r.Read(buf); err != nil {
			p.r.Close()
			return
		}
	}
}
