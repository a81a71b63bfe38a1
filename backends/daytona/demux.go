//go:build !remotebox_runner

package daytona

import (
	"bytes"
	"io"
	"strconv"
)

// demux takes the log of a session's command apart: Daytona marks its lines with the stream that
// they were printed to. What carries no mark belongs to the stream before it.
type demux struct {
	out, err sink
	to       *sink
	begun    bool   // a line is under way
	mark     []byte // what may become a mark
}

// newDemux takes apart a log of the command tag alone, or, if it is shared, one in which other
// commands stand, too.
func newDemux(stdout, stderr io.Writer, tag string, exact, shared bool) *demux {
	s := sink{mark: []byte(endMark(tag)), exact: exact}
	if shared {
		s.begin = []byte(beginMark(tag))
	}
	d := &demux{out: s, err: s}
	d.out.w, d.err.w = stdout, stderr
	d.to = &d.out
	return d
}

// marks are three bytes of 1 or of 2.
const markLen = 3

// Write takes a piece of the log, cut anywhere.
func (d *demux) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if !d.begun {
			if c := p[0]; (c == 1 || c == 2) && (len(d.mark) == 0 || d.mark[0] == c) {
				d.mark, p = append(d.mark, c), p[1:]
				if len(d.mark) == markLen {
					d.to = &d.out
					if c == 2 {
						d.to = &d.err
					}
					d.mark, d.begun = d.mark[:0], true
				}
				continue
			}
			d.begun = true
			d.to.write(d.mark) // it was none
			d.mark = d.mark[:0]
		}
		line := p
		if i := bytes.IndexByte(p, '\n'); i >= 0 {
			line, d.begun = p[:i+1], false
		}
		d.to.write(line)
		p = p[len(line):]
	}
	return n, nil
}

// sink is one stream of a command: lines, of which the one that says how it ended is the last that
// counts, and the first the one that says that it begins, if there is to be one: a command before it
// may have printed its own end and have gone on. It holds back what may be the beginning of that line, and the newline in front of it.
type sink struct {
	w     io.Writer // nil discards
	mark  []byte
	begin []byte // nil once the command has begun
	exact bool   // hold every newline back, because the one in front of the end is not the command's

	line  []byte // the line so far, while it may be the end
	held  bool   // a newline is held back
	open  bool   // a line is under way that is not the end
	ended bool
	code  int
}

func (s *sink) write(p []byte) {
	if s.ended || len(p) == 0 {
		return
	}
	if s.open {
		s.pass(p)
		return
	}
	s.line = append(s.line, p...)
	switch {
	case s.begin != nil && bytes.HasPrefix(s.begin, s.line):
		if len(s.line) == len(s.begin) {
			s.begin, s.line = nil, nil
		}
	case bytes.HasPrefix(s.line, s.mark):
		if text, _, whole := bytes.Cut(s.line[len(s.mark):], []byte("\n")); whole {
			if code, err := strconv.Atoi(string(text)); err == nil {
				s.ended, s.code = true, code
				return
			}
			s.flush()
		}
	case bytes.HasPrefix(s.mark, s.line):
	default:
		s.flush()
	}
}

// flush passes the line on: it is not the end.
func (s *sink) flush() {
	line := s.line
	s.line = nil
	s.pass(line)
}

// pass passes on what has a newline at its end only if a line ends there.
func (s *sink) pass(p []byte) {
	if s.begin != nil {
		s.open = p[len(p)-1] != '\n'
		return
	}
	if s.held {
		s.held = false
		s.emit([]byte{'\n'})
	}
	ends := p[len(p)-1] == '\n'
	if ends && (s.exact || len(p) == 1 && !s.open) {
		s.held, p = true, p[:len(p)-1]
	}
	s.open = !ends
	s.emit(p)
}

func (s *sink) emit(p []byte) {
	if s.w != nil && len(p) > 0 {
		s.w.Write(p)
	}
}

// rest passes on what was held back in case that it was the end, of a log that has none.
func (s *sink) rest() {
	if !s.ended && len(s.line) > 0 {
		s.flush()
	}
	if s.held && !s.ended {
		s.held = false
		s.emit([]byte{'\n'})
	}
}
