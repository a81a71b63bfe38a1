package runner

import (
	"errors"
	"io"
	"sync"

	"github.com/remote-box/remote/internal/wire"
)

// line is where a supervisor's frames go: the connection that its host made last, if there is one.
type line struct {
	mu sync.Mutex
	w  *wire.Writer
}

// errNoHost is the error of a frame while no host is connected. It is lost; a host that comes back
// asks for results.
var errNoHost = errors.New("no host is connected")

func newLine(w *wire.Writer) *line { return &line{w: w} }

// connect sends what follows to w, or nowhere if w is nil.
func (l *line) connect(w *wire.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w = w
}

// disconnect does the same as connect(nil) if w is still the connection.
func (l *line) disconnect(w *wire.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == w {
		l.w = nil
	}
}

// now is the present connection. Frames that make sense together only go to one and the same.
func (l *line) now() frames {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.w == nil {
		return noHost{}
	}
	return l.w
}

// Data sends a piece of output to whichever host is there.
func (l *line) Data(kind wire.Kind, call string, body []byte) error {
	return l.now().Data(kind, call, body)
}

// frames is a wire.Writer, as far as a supervisor needs one.
type frames interface {
	Message(kind wire.Kind, call string, v any) error
	Data(kind wire.Kind, call string, body []byte) error
	Copy(call string, r io.Reader) error
}

// noHost is frames that go nowhere.
type noHost struct{}

func (noHost) Message(wire.Kind, string, any) error { return errNoHost }
func (noHost) Data(wire.Kind, string, []byte) error { return errNoHost }
func (noHost) Copy(string, io.Reader) error         { return errNoHost }
