//go:build !remotebox_runner

package e2btest

import (
	"io"
	"log"
	"net"
	"net/http"
)

// abort ends the request without an answer, or in the middle of one: the
// connection is reset in HTTP/1, the stream in HTTP/2. It does not return.
func abort(r *http.Request) {
	if conn, ok := r.Context().Value(connKey{}).(*net.TCPConn); ok && r.ProtoMajor == 1 {
		conn.SetLinger(0) // makes the close a reset
	}
	panic(http.ErrAbortHandler)
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

// nowhere is the writer for an answer that is to be lost.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n *nowhere) WriteHeader(int)             {}
func (n *nowhere) Flush()                      {}
