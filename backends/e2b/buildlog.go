//go:build !remotebox_runner

package e2b

import (
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/remote-box/remote/internal/httpapi"
)

// logTail is how much of a log an error shows.
const logTail = 4 << 10

// buildLog passes a log on, a line at a time, and keeps its end.
type buildLog struct {
	mu   sync.Mutex
	w    io.Writer
	tail []byte
}

// newBuildLog logs to w, or to this program's standard error.
func newBuildLog(w io.Writer) *buildLog {
	if l, ok := w.(*buildLog); ok {
		return &buildLog{w: l}
	}
	if w == nil {
		w = os.Stderr
	}
	return &buildLog{w: w}
}

// Write implements io.Writer.
func (l *buildLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, p...)
	if over := len(l.tail) - logTail; over > 0 {
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
	return l.w.Write(p)
}

// line logs a line that came from outside.
func (l *buildLog) line(text string) {
	io.WriteString(l, plain(text)+"\n")
}

func (l *buildLog) end() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ToValidUTF8(string(l.tail), "")
}

// plain is a line of a build without what colours it.
func plain(text string) string {
	return httpapi.Printable(regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]`).ReplaceAllString(text, ""))
}
