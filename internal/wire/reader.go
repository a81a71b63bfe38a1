package wire

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
)

const prefix = "~rb1 "

// Frame is one frame that a Reader read.
type Frame struct {
	Kind Kind
	Call string
	// Body is valid until the next frame is read.
	Body []byte
}

// Decode reads the body, a JSON message, into v.
func (f *Frame) Decode(v any) error {
	if err := json.Unmarshal(f.Body, v); err != nil {
		return &FrameError{Reason: "a " + string(rune(f.Kind)) + " frame whose body is not the message it should be"}
	}
	return nil
}

// FrameError says that a line which carried the right nonce was not a frame: the other side is
// broken, or is not what it claims to be.
type FrameError struct {
	Reason string
}

func (e *FrameError) Error() string { return "protocol error: " + e.Reason }

// Reader reads frames and passes every other byte on. It holds one frame in memory at most.
type Reader struct {
	r     *bufio.Reader
	start []byte // what a frame of ours begins with
	other io.Writer
	body  []byte
	first bool
}

// NewReader returns a Reader of the frames in r that carry nonce. What is not a frame goes to
// other, which may be nil; its errors are ignored.
func NewReader(r io.Reader, nonce string, other io.Writer) *Reader {
	if other == nil {
		other = io.Discard
	}
	size := base64.StdEncoding.EncodedLen(MaxBody) + len(prefix) + len(nonce) + 128
	return &Reader{
		r:     bufio.NewReaderSize(r, min(size, 64<<10)),
		start: []byte(prefix + nonce + " "),
		other: other,
		first: true,
	}
}

// Next returns the next frame. At the stream's end it returns io.EOF, or io.ErrUnexpectedEOF if
// that came inside a frame.
func (r *Reader) Next() (Frame, error) {
	for {
		head, err := r.r.Peek(len(r.start))
		if bytes.Equal(head, r.start) {
			r.first = false
			return r.frame()
		}
		if len(head) == 0 {
			if err == nil || err == io.EOF {
				err = io.EOF
			}
			return Frame{}, err
		}
		if err := r.passLine(); err != nil {
			return Frame{}, err
		}
	}
}

// passLine passes on what is left of a line that is no frame, in pieces if it is long. The newline
// in front of the first frame is the runner's, not the program's; it can't be told from one that
// the program printed until the frame is seen, so that a line's newline is held back until then.
func (r *Reader) passLine() error {
	for {
		piece, err := r.r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			r.other.Write(piece)
			continue
		}
		if err == nil && r.first {
			// Write what came before the newline now: Peek may block for long.
			r.other.Write(piece[:len(piece)-1])
			if head, _ := r.r.Peek(len(r.start)); !bytes.Equal(head, r.start) {
				r.other.Write([]byte{'\n'})
			}
			return nil
		}
		if len(piece) > 0 {
			r.other.Write(piece)
		}
		if err == io.EOF {
			return nil // Next sees it again, with nothing before it
		}
		return err
	}
}

// frame reads the frame whose start is next in the buffer.
func (r *Reader) frame() (Frame, error) {
	r.r.Discard(len(r.start))
	r.body = r.body[:0]
	limit := base64.StdEncoding.EncodedLen(MaxBody) + 128
	for {
		piece, err := r.r.ReadSlice('\n')
		if len(r.body)+len(piece) > limit {
			return Frame{}, &FrameError{Reason: "a frame larger than the protocol allows"}
		}
		r.body = append(r.body, piece...)
		if err == nil {
			break
		}
		if err == io.EOF {
			return Frame{}, io.ErrUnexpectedEOF
		}
		if err != bufio.ErrBufferFull {
			return Frame{}, err
		}
	}
	return r.parse(bytes.TrimSuffix(bytes.TrimSuffix(r.body, []byte("\n")), []byte("\r")))
}

func (r *Reader) parse(line []byte) (Frame, error) {
	kind, rest, ok := bytes.Cut(line, []byte(" "))
	call, body, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok || !ok2 || len(kind) != 1 {
		return Frame{}, &FrameError{Reason: "a frame without kind, call and body"}
	}
	id := string(call)
	if id != NoCall && !ValidID(id) {
		return Frame{}, &FrameError{Reason: "a frame whose call id is malformed"}
	}
	// Decoding in place: the decoded form is never longer.
	n, err := base64.StdEncoding.Decode(body, body)
	if err != nil {
		return Frame{}, &FrameError{Reason: "a frame whose body is not base64"}
	}
	if n > MaxBody {
		return Frame{}, &FrameError{Reason: "a frame larger than the protocol allows"}
	}
	return Frame{Kind: Kind(kind[0]), Call: id, Body: body[:n]}, nil
}
