package wire

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"sync"
)

// Writer writes frames. Its methods may be called at once; every frame is one Write.
type Writer struct {
	mu    sync.Mutex
	w     io.Writer
	nonce string
	buf   []byte
}

// NewWriter returns a Writer of frames that carry nonce.
func NewWriter(w io.Writer, nonce string) *Writer {
	return &Writer{w: w, nonce: nonce}
}

// Message writes a frame whose body is v as JSON.
func (w *Writer) Message(kind Kind, call string, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.Frame(kind, call, body)
}

// Hello writes a runner's first frame.
func (w *Writer) Hello(h Hello) error {
	body, err := json.Marshal(h)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf[:0], '\n')
	return w.frame(KindHello, NoCall, body)
}

// Frame writes one frame. The body may be at most MaxBody bytes.
func (w *Writer) Frame(kind Kind, call string, body []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = w.buf[:0]
	return w.frame(kind, call, body)
}

func (w *Writer) frame(kind Kind, call string, body []byte) error {
	if len(body) > MaxBody {
		return &FrameError{Reason: "a body larger than the protocol allows"}
	}
	w.buf = append(w.buf, prefix...)
	w.buf = append(w.buf, w.nonce...)
	w.buf = append(w.buf, ' ', byte(kind), ' ')
	w.buf = append(w.buf, call...)
	w.buf = append(w.buf, ' ')
	w.buf = base64.StdEncoding.AppendEncode(w.buf, body)
	w.buf = append(w.buf, '\n')
	_, err := w.w.Write(w.buf)
	return err
}

// Data writes body as frames of kind, in pieces of ChunkSize. Other frames may come between them.
func (w *Writer) Data(kind Kind, call string, body []byte) error {
	for len(body) > 0 {
		n := min(len(body), ChunkSize)
		if err := w.Frame(kind, call, body[:n]); err != nil {
			return err
		}
		body = body[n:]
	}
	return nil
}

// Copy writes what r yields as KindData frames.
func (w *Writer) Copy(call string, r io.Reader) error {
	buf := make([]byte, ChunkSize)
	for {
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if err := w.Frame(KindData, call, buf[:n]); err != nil {
				return err
			}
		}
		switch err {
		case nil:
		case io.EOF, io.ErrUnexpectedEOF:
			return nil
		default:
			return err
		}
	}
}
