package codec

import (
	"os"
)

// Spill is a writer that keeps up to Limit bytes in memory and, once there are more, everything
// in the file that Create makes.
type Spill struct {
	Limit  int
	Create func() (*os.File, error)

	buf  []byte
	file *os.File
	size int64
}

func (s *Spill) Write(p []byte) (int, error) {
	if s.file == nil && len(s.buf)+len(p) <= s.Limit {
		s.buf = append(s.buf, p...)
		s.size += int64(len(p))
		return len(p), nil
	}
	if s.file == nil {
		f, err := s.Create()
		if err != nil {
			return 0, err
		}
		s.file = f
		if _, err := f.Write(s.buf); err != nil {
			return 0, err
		}
		s.buf = nil
	}
	n, err := s.file.Write(p)
	s.size += int64(n)
	return n, err
}

// Size is how much was written.
func (s *Spill) Size() int64 { return s.size }

// Bytes is what was written, if it is in memory.
func (s *Spill) Bytes() []byte { return s.buf }

// File is the file, or nil; the caller closes and removes it.
func (s *Spill) File() *os.File { return s.file }
