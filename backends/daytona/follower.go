//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

// follower reads the log of a session's command as it grows. The log is a file in the sandbox, so
// that a connection that breaks loses nothing: the next one begins anew, and what is known of it
// is skipped.
type follower struct {
	toolbox *httpapi.Client
	pulse   *pulse // of the sandbox
	path    string
	quiet   bool // following is no activity that keeps the sandbox awake

	got  int64 // bytes of the log that were read
	skip int64 // bytes of this connection that are known

	mu   sync.Mutex
	conn *websocket.Conn
}

// How often a connection that brings nothing is made again, and how large its messages may be.
const (
	followTries   = 6
	followMessage = 8 << 20
)

// logVersion is the SDK's version that a server takes this program for: from 0.167 on logs are
// marked with their streams.
const logVersion = "0.190.0"

// connect connects if there is no connection. It tries again while that may help.
func (f *follower) connect(ctx context.Context) error {
	for try := 0; f.current() == nil; try++ {
		err := f.dial(ctx)
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e, ok := asError(err)
		if !ok || e.Status != 0 && e.Status < 500 || try == followTries {
			return err
		}
		if !pause.For(ctx, httpapi.Backoff(try)) {
			return ctx.Err()
		}
	}
	return nil
}

func (f *follower) dial(ctx context.Context) error {
	header := f.toolbox.Header.Clone()
	header.Set("X-Daytona-SDK-Version", logVersion)
	header.Set("X-Daytona-Split-Output", "true")
	if f.quiet {
		header.Set("X-Daytona-Skip-Last-Activity-Update", "true")
	}
	u := "ws" + strings.TrimPrefix(f.toolbox.Base, "http") + f.path + "/logs?follow=true"
	conn, resp, err := websocket.Dial(ctx, u, &websocket.DialOptions{HTTPClient: f.toolbox.HTTP, HTTPHeader: header})
	if err != nil {
		return f.refusal(resp, err)
	}
	conn.SetReadLimit(followMessage)
	f.skip = f.got
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conn = conn
	return nil
}

func (f *follower) current() *websocket.Conn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.conn
}

// refusal makes the error of a connection that was not made.
func (f *follower) refusal(resp *http.Response, err error) error {
	e := &httpapi.Error{Op: "GET " + f.path + "/logs"}
	if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
		e.Status = resp.StatusCode
		var body []byte
		if resp.Body != nil {
			body, _ = io.ReadAll(io.LimitReader(resp.Body, 1024)) // the library keeps its beginning
		}
		e.Message = httpapi.Redact(httpapi.Printable(string(body)), f.toolbox.Secrets)
		return e
	}
	for u, ok := errors.AsType[*url.Error](err); ok; u, ok = errors.AsType[*url.Error](err) {
		err = u.Err // its text holds the URL
	}
	e.Message = "the connection could not be made"
	e.Err = errors.New(httpapi.Redact(err.Error(), f.toolbox.Secrets))
	return e
}

// next returns the next bytes of the log, io.EOF at its end: the command has ended, or its session,
// or the sandbox.
func (f *follower) next(ctx context.Context) ([]byte, error) {
	for try := 0; ; try++ {
		if err := f.connect(ctx); err != nil {
			return nil, err
		}
		kind, p, err := f.current().Read(ctx)
		switch {
		case err == nil && (kind == websocket.MessageBinary || kind == websocket.MessageText):
			f.pulse.beat()
			known := min(f.skip, int64(len(p)))
			f.skip -= known
			if p = p[known:]; len(p) == 0 {
				continue
			}
			f.got += int64(len(p))
			return p, nil
		case ctx.Err() != nil:
			f.drop()
			return nil, ctx.Err()
		case websocket.CloseStatus(err) == websocket.StatusNormalClosure:
			f.drop()
			return nil, io.EOF
		}
		f.drop()
		if try == followTries {
			return nil, &httpapi.Error{Op: "GET " + f.path + "/logs", Message: "the connection breaks again and again", Err: errors.New(httpapi.Redact(err.Error(), f.toolbox.Secrets))}
		}
		if try > 0 && !pause.For(ctx, httpapi.Backoff(try-1)) {
			return nil, ctx.Err()
		}
	}
}

// How long the other side may take to answer, and at the beginning of a command, when a caller waits
// for one that has most likely ended already.
const (
	pingTime  = 20 * time.Second
	firstPing = 2 * time.Second
)

// ping makes sure that somebody is still there: a read from a connection that is dead would wait
// for ever. It may be called while next is.
func (f *follower) ping(ctx context.Context, limit time.Duration) {
	conn := f.current()
	if conn == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := conn.Ping(limited); err != nil && ctx.Err() == nil {
		conn.CloseNow() // next connects again
	}
}

// drop ends the connection.
func (f *follower) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conn != nil {
		f.conn.CloseNow()
		f.conn = nil
	}
}

func commandPath(session, command string) string {
	return fmt.Sprintf("/process/session/%s/command/%s", url.PathEscape(session), url.PathEscape(command))
}
