package wire

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
)

const prefix = "~rb1 "

// maxLine is the longest frame behind its nonce: kind, call and body.
var maxLine = base64.StdEncoding.EncodedLen(MaxBody) + 128

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

// FrameError says that what carried the right nonce was not a frame: the other side is broken, or
// is not what it claims to be.
type FrameError struct {
	Reason string
}

func (e *FrameError) Error() string { return "protocol error: " + e.Reason }

// Reader reads frames and passes every other byte on as it comes. It holds one frame in memory at
// most.
type Reader struct {
	r     *bufio.Reader
	start []byte // what a frame of ours begins with
	other io.Writer
	body  []byte
	first bool // no frame has been seen yet
	held  bool // a newline waits to be passed on: it may be the one in front of the first frame
}

// NewReader returns a Reader of the frames in r that carry nonce. What is not a frame goes to
// other, which may be nil; its errors are ignored.
func NewReader(r io.Reader, nonce string, other io.Writer) *Reader {
	if other == nil {
		other = io.Discard
	}
	return &Reader{
		r:     bufio.NewReaderSize(r, 64<<10),
		start: []byte(prefix + nonce + " "),
		other: other,
		first: true,
	}
}

// Next returns the next frame. At the stream's end it returns io.EOF, or io.ErrUnexpectedEOF if
// that came inside a frame.
func (r *Reader) Next() (Frame, error) {
	want := 1
	for {
		if _, err := r.r.Peek(want); err != nil {
			rest, _ := r.r.Peek(r.r.Buffered())
			r.pass(rest)
			r.release()
			return Frame{}, err
		}
		buf, _ := r.r.Peek(r.r.Buffered())
		at := bytes.Index(buf, r.start)
		if at == 0 {
			r.first, r.held = false, false
			return r.frame()
		}
		if at < 0 {
			at = len(buf) - r.begun(buf)
		}
		r.pass(buf[:at])
		r.r.Discard(at)
		want = min(len(buf)-at+1, len(r.start))
	}
}

// begun is how much at the end of buf may be the beginning of a frame.
func (r *Reader) begun(buf []byte) int {
	for n := min(len(buf), len(r.start)-1); n > 0; n-- {
		if bytes.Equal(buf[len(buf)-n:], r.start[:n]) {
			return n
		}
	}
	return 0
}

// pass passes on what is no frame. The newline in front of the first frame is the runner's, not
// the program's; it can't be told from one that the program printed until the frame is seen, so
// that a newline is held back until then.
func (r *Reader) pass(p []byte) {
	if len(p) == 0 {
		return
	}
	r.release()
	if r.first && p[len(p)-1] == '\n' {
		r.held = true
		p = p[:len(p)-1]
	}
	if len(p) > 0 {
		r.other.Write(p)
	}
}

func (r *Reader) release() {
	if r.held {
		r.held = false
		r.other.Write([]byte{'\n'})
	}
}

// frame reads the frame whose start is next in the buffer.
func (r *Reader) frame() (Frame, error) {
	r.r.Discard(len(r.start))
	r.body = r.body[:0]
	for {
		piece, err := r.r.ReadSlice('\n')
		if len(r.body)+len(piece) > maxLine {
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
	return parse(bytes.TrimSuffix(bytes.TrimSuffix(r.body, []byte("\n")), []byte("\r")))
}

func parse(line []byte) (Frame, error) {
	kind, rest, ok := bytes.Cut(line, []byte(" "))
	call, body, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok || !ok2 || len(kind) != 1 {
		return Frame{}, &FrameError{Reason: "a frame without kind, call and body"}
	}
	id := string(call)
	if id != NoCall && !ValidID(id) {
		return Frame{}, &FrameError{Reason: "a frame whose call id is malformed"}
	}
	// encoding/base64 skips carriage returns wherever they are.
	if bytes.IndexByte(body, '\r') >= 0 {
		return Frame{}, &FrameError{Reason: "a frame whose body is not base64"}
	}
	// Decoding in place: the decoded form is never longer.
	n, err := base64.StdEncoding.Strict().Decode(body, body)
	if err != nil {
		return Frame{}, &FrameError{Reason: "a frame whose body is not base64"}
	}
	if n > MaxBody {
		return Frame{}, &FrameError{Reason: "a frame larger than the protocol allows"}
	}
	return Frame{Kind: Kind(kind[0]), Call: id, Body: body[:n]}, nil
}
