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

// logMu makes writes to logs one at a time: backend values are copied, and builds of several may share
// a log.
var logMu sync.Mutex

// log is a writer that is given to the package.
type log struct{ io.Writer }

// Write implements io.Writer.
func (l log) Write(p []byte) (int, error) {
	logMu.Lock()
	defer logMu.Unlock()
	return l.Writer.Write(p)
}

// newBuildLog logs to w, or to this program's standard error.
func newBuildLog(w io.Writer) *buildLog {
	if l, ok := w.(*buildLog); ok {
		return &buildLog{w: l}
	}
	if w == nil {
		w = os.Stderr
	}
	return &buildLog{w: log{w}}
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
