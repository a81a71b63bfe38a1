//go:build !remotebox_runner

package daytona

import (
	"io"
	"sync"

	"github.com/remote-box/remote/internal/httpapi"
)

// source is what a file is written from, and from which it can be written again: readers that can
// seek are rewound to where they were, and of others the beginning is kept.
type source struct {
	r     io.Reader
	seek  io.Seeker // nil if r can't be rewound
	begin int64     // where r was

	mu   sync.Mutex
	kept []byte // all that was read, as long as it is no more than keepRead
	at   int    // how much of kept has been read again
	lost bool   // more has been read than was kept
}

// keepRead is how much is kept of what was read.
const keepRead = 64 << 10

func newSource(r io.Reader) *source {
	s := &source{r: r}
	// Pipes have the method, too, but can't.
	if seek, ok := r.(io.Seeker); ok {
		if at, err := seek.Seek(0, io.SeekCurrent); err == nil {
			s.seek, s.begin = seek, at
		}
	}
	return s
}

// rewind makes the next reader begin at the beginning. false means that it can't.
func (s *source) rewind() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seek != nil {
		_, err := s.seek.Seek(s.begin, io.SeekStart)
		return err == nil
	}
	s.at = 0
	return !s.lost
}

// spent reports whether rewind can only fail.
func (s *source) spent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// again is what was read before and is to be read once more.
func (s *source) again(p []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := copy(p, s.kept[s.at:])
	s.at += n
	return n
}

// keep keeps what was just read.
func (s *source) keep(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seek != nil || s.lost || len(p) == 0 {
		return
	}
	if s.lost = len(s.kept)+len(p) > keepRead; s.lost {
		s.kept = nil
		s.at = 0
		return
	}
	s.kept = append(s.kept, p...)
	s.at = len(s.kept)
}

// reader reads a source for one transfer. While the source is waited for, the transfer is not
// silent.
type reader struct {
	*source
	idle *httpapi.Idle
}

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	if n := r.again(p); n > 0 {
		return n, nil
	}
	r.idle.Pause()
	defer r.idle.Touch()
	n, err := r.r.Read(p)
	r.keep(p[:n])
	return n, err
}
