//go:build !remotebox_runner

package daytonatest

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/coder/websocket"
)

// Each line of a command's log begins with the stream that it was printed to.
const (
	markStdout = "\x01\x01\x01"
	markStderr = "\x02\x02\x02"
)

// labeler turns a stream into marked lines. It is not faithful: NUL bytes are dropped, a line is held back until it ends, and one that
// does not end is ended.
type labeler struct {
	log  *logBuffer
	mark string
	line []byte
}

// ReadFrom labels r to its end.
func (l *labeler) ReadFrom(r io.Reader) (int64, error) {
	var n int64
	buf := make([]byte, 32<<10)
	for {
		k, err := r.Read(buf)
		n += int64(k)
		l.add(buf[:k])
		if err != nil {
			if len(l.line) > 0 {
				l.emit(append(l.line, '\n'))
			}
			return n, err
		}
	}
}

func (l *labeler) add(p []byte) {
	var out []byte
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.line = append(l.line, bytes.ReplaceAll(p, []byte{0}, nil)...)
			break
		}
		out = append(append(out, l.mark...), l.line...)
		out = append(append(out, bytes.ReplaceAll(p[:i], []byte{0}, nil)...), '\n')
		l.line, p = l.line[:0], p[i+1:]
	}
	if out != nil {
		_, _ = l.log.Write(out)
	}
}

func (l *labeler) emit(line []byte) {
	_, _ = l.log.Write(append([]byte(l.mark), line...))
	l.line = l.line[:0]
}

// streams is a log taken apart.
type streams struct{ both, stdout, stderr []byte }

// split takes a log apart. A mark that the program printed is a mark.
func split(log []byte) streams {
	var s streams
	to := &s.stdout
	for len(log) > 0 {
		switch {
		case bytes.HasPrefix(log, []byte(markStdout)):
			to, log = &s.stdout, log[3:]
		case bytes.HasPrefix(log, []byte(markStderr)):
			to, log = &s.stderr, log[3:]
		default:
			end := len(log)
			for _, mark := range []string{markStdout, markStderr} {
				if i := bytes.Index(log, []byte(mark)); i >= 0 {
					end = min(end, i)
				}
			}
			s.both, *to = append(s.both, log[:end]...), append(*to, log[:end]...)
			log = log[end:]
		}
	}
	return s
}

// unmarked are a log's bytes without the marks.
func unmarked(log []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(log, []byte(markStdout), nil), []byte(markStderr), nil)
}

// splits reports whether a client of this version expects the streams apart.
func splits(version string) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major > 0 || minor >= 167)
}

const versionProtocol = "X-Daytona-SDK-Version~"

// serveLogs answers with a log, in one of its forms, now or as it grows.
func (d *daemon) serveLogs(w http.ResponseWriter, r *http.Request, log *logBuffer) {
	follow := r.URL.Query().Get("follow") == "true"
	version := r.Header.Get("X-Daytona-SDK-Version")
	raw := r.Header.Get("X-Daytona-Split-Output") == "true"
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		d.serveLogSocket(w, r, log, version, follow, raw)
		return
	}
	form := func(p []byte) []byte { return unmarked(p) }
	if raw {
		form = func(p []byte) []byte { return p }
	}
	if follow {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(200)
		flush(w)
		_ = d.srv.followLog(r.Context(), log, true, func(p []byte) error {
			_, err := w.Write(form(p))
			flush(w)
			return err
		})
		return
	}
	if splits(version) && !raw {
		out := split(log.bytes())
		writeJSON(w, 200, map[string]string{"output": string(out.both), "stdout": string(out.stdout), "stderr": string(out.stderr)})
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(form(log.bytes()))
}

func (d *daemon) serveLogSocket(w http.ResponseWriter, r *http.Request, log *logBuffer, version string, follow, raw bool) {
	opts := &websocket.AcceptOptions{InsecureSkipVerify: true}
	for _, protocol := range subprotocols(r) {
		if v, ok := strings.CutPrefix(protocol, versionProtocol); ok {
			version = v
			opts.Subprotocols = []string{protocol}
		}
	}
	conn, err := websocket.Accept(w, r, opts)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	ctx := conn.CloseRead(r.Context())
	marked := raw || splits(version)
	err = d.srv.followLog(ctx, log, follow, func(p []byte) error {
		if !marked {
			p = unmarked(p)
		}
		for frame := range slices.Chunk(p, 4096) { // wherever that cuts
			if err := conn.Write(ctx, websocket.MessageBinary, frame); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}
}
