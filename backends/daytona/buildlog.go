//go:build !remotebox_runner

package daytona

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

// logTail is how much of a build's log is kept for an error.
const logTail = 8 << 10

// logReader reads the log of a build, as well as that can be done: it may not be there yet, break
// off, or never end. Nobody waits for it.
type logReader struct {
	cancel context.CancelFunc
	done   chan struct{}

	half []byte // the beginning of an escape whose end was not read yet

	mu   sync.Mutex
	kept []byte
	news chan struct{} // closed and replaced when something was read
}

// follow returns the reader of a snapshot's log: l, or a new one once there may be a log.
func (l *logReader) follow(ctx context.Context, a *api, info *snapshotInfo, w io.Writer) *logReader {
	if l != nil || info.State == "pending" && info.ErrorReason == "" || info.State == "active" || info.State == "removing" || info.State == "inactive" {
		return l
	}
	ctx, cancel := context.WithCancel(ctx)
	l = &logReader{cancel: cancel, done: make(chan struct{}), news: make(chan struct{})}
	go func() {
		defer close(l.done)
		l.read(ctx, a, info.ID, w)
	}()
	return l
}

// stop ends the reader and waits for it.
func (l *logReader) stop() {
	if l != nil {
		l.cancel()
		<-l.done
	}
}

// read reads the log until ctx ends or the log does, from the beginning whenever the connection
// broke, leaving out what it has seen.
func (l *logReader) read(ctx context.Context, a *api, id string, w io.Writer) {
	var seen int64
	for try := 0; ctx.Err() == nil; try++ {
		ended, err := l.readOnce(ctx, a, id, w, &seen)
		if ended || err == nil || !pause.For(ctx, httpapi.Backoff(try)) {
			return
		}
	}
}

func (l *logReader) readOnce(ctx context.Context, a *api, id string, w io.Writer, seen *int64) (ended bool, err error) {
	var where struct {
		URL string `json:"url"`
	}
	if _, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/snapshots/" + id + "/build-logs-url", Retry: httpapi.Idempotent}, &where); err != nil {
		return says(err, http.StatusNotFound), err
	}
	if _, err := checkURL(where.URL); err != nil {
		return true, err
	}
	resp, err := a.http.Send(ctx, &httpapi.Request{Method: http.MethodGet, Path: where.URL, Query: url.Values{"follow": {"true"}}})
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	if _, err := io.CopyN(io.Discard, resp.Body, *seen); err != nil {
		return false, err
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		*seen += int64(n)
		l.add(buf[:n], w)
		if err != nil {
			return err == io.EOF, err
		}
	}
}

// sharedWriter is what a build writes its log to: this package's own words and Daytona's.
type sharedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *sharedWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

// colours are the escapes by which a log is coloured.
var (
	colours    = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	halfColour = regexp.MustCompile("\x1b(\\[[0-9;]{0,32})?$")
)

func (l *logReader) add(p []byte, w io.Writer) {
	p = colours.ReplaceAll(append(l.half, p...), nil)
	at := len(p)
	if half := halfColour.FindIndex(p); half != nil {
		at = half[0]
	}
	p, l.half = p[:at], bytes.Clone(p[at:])
	if len(p) == 0 {
		return
	}
	w.Write(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, p...)
	if over := len(l.kept) - logTail; over > 0 {
		l.kept = append(l.kept[:0], l.kept[over:]...)
	}
	close(l.news)
	l.news = make(chan struct{})
}

// How long a failed build's last lines may take: the log of one never ends.
const (
	tailTime  = 3 * time.Second
	tailQuiet = 200 * time.Millisecond
)

// tail is the end of a failed build's log.
func (l *logReader) tail(ctx context.Context) string {
	if l == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, tailTime)
	defer cancel()
	for waiting := true; waiting; {
		l.mu.Lock()
		news, some := l.news, len(l.kept) > 0
		l.mu.Unlock()
		quiet := tailQuiet
		if !some {
			quiet = tailTime
		}
		t := time.NewTimer(quiet)
		select {
		case <-news:
		case <-l.done:
			waiting = false
		case <-t.C:
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
		t.Stop()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.TrimSpace(l.kept)), "\ufffd")
}
