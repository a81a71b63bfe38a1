//go:build !remotebox_runner

package daytona

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/rand"
)

// worker is a shell in the sandbox that runs one command at a time: a session of Daytona's. In it a
// loop waits for commands, whose log is being followed, so that a command costs one request. The
// worker of a sandbox with a single call has no loop: its command is the session's.
type worker struct {
	s       *sandbox
	session string
	loop    string // the loop's tag, "" without a loop
	command string // the loop's id
	log     *follower
	seq     int
	since   time.Time // ready since
}

// newWorker makes a worker. An error means that there is none; a session that nobody uses may be
// left in the sandbox if it could not be deleted.
func (s *sandbox) newWorker(ctx context.Context) (_ *worker, err error) {
	w := &worker{s: s, session: "rb-" + rand.Text(20)}
	_, err = s.toolbox.Do(ctx, &httpapi.Request{
		Method: http.MethodPost, Path: "/process/session", JSON: map[string]string{"sessionId": w.session}, Retry: httpapi.Unprocessed,
	}, nil)
	if err != nil && !says(err, http.StatusConflict) {
		return nil, err
	}
	if s.once || s.backend.direct {
		return w, nil
	}
	defer func() {
		if err != nil {
			s.background(w.discard)
		}
	}()
	w.loop = rand.Text(20)
	if w.command, err = w.exec(ctx, loopScript(w.loop)); err != nil {
		return nil, err
	}
	w.log = w.follow(w.command)
	w.log.quiet = true
	w.since = time.Now()
	return w, w.log.connect(ctx)
}

// doubtful reports whether the connection to the loop's log has been idle for long.
func (w *worker) doubtful() bool {
	return w.loop != "" && time.Since(w.since) > cmp.Or(w.s.backend.doubt, idleDoubt)
}

func (w *worker) follow(command string) *follower {
	return &follower{toolbox: w.s.toolbox, pulse: &w.s.pulse, path: commandPath(w.session, command)}
}

// exec begins a command of the session.
func (w *worker) exec(ctx context.Context, script string) (id string, err error) {
	req, err := chunked(&httpapi.Request{Method: http.MethodPost, Path: "/process/session/" + url.PathEscape(w.session) + "/exec"},
		map[string]any{"command": script, "runAsync": true, "suppressInputEcho": true})
	if err != nil {
		return "", err
	}
	var answer struct {
		ID string `json:"cmdId"`
	}
	if _, err = w.s.toolbox.Do(ctx, req, &answer); err == nil && answer.ID == "" {
		err = errors.New("daytona: a command was started without an id")
	}
	return answer.ID, err
}

// send hands a command to the worker. After an error, ran says whether it may have begun.
func (w *worker) send(ctx context.Context, script func(tag string) string) (tag string, log *follower, ran bool, err error) {
	if w.loop == "" {
		return w.sendSingle(ctx, script)
	}
	w.seq++
	tag = fmt.Sprintf("%sx%d", w.loop, w.seq)
	data := line(w.seq, script(tag))
	post := func(retry httpapi.Retry) error {
		req, err := chunked(&httpapi.Request{Method: http.MethodPost, Path: commandPath(w.session, w.command) + "/input", Retry: retry}, map[string]string{"data": data})
		if err != nil {
			return err
		}
		_, err = w.s.toolbox.Do(ctx, req, nil)
		return err
	}
	err = post(httpapi.Unprocessed)
	if err != nil && doubtful(err) && ctx.Err() == nil {
		// The loop runs no line twice, so that it may be sent again.
		ran = true
		err = post(httpapi.Idempotent)
	}
	if err != nil && !untouched(err) {
		ran = true
	}
	return tag, w.log, ran, err
}

// singleTries is how often a command is sent of which nothing has arrived.
const singleTries = 3

// sendSingle runs a command without a loop. One whose answer was lost is looked for, and sent again
// if it is not there; the session runs none twice.
func (w *worker) sendSingle(ctx context.Context, script func(tag string) string) (tag string, log *follower, ran bool, err error) {
	tag = rand.Text(20)
	text := singleScript(script(tag), tag)
	for try := 1; ; try++ {
		id, err := w.exec(ctx, text)
		if err != nil && ctx.Err() == nil && !untouched(err) {
			ran = true
			found, known := w.find(ctx, tag)
			switch {
			case found != "":
				id, err = found, nil
			case known && try < singleTries:
				continue
			}
		}
		if err != nil {
			return tag, nil, ran || ctx.Err() != nil, err
		}
		return tag, w.follow(id), true, nil
	}
}

// find looks for a command of the session by its tag. known says whether the session could be
// looked at.
func (w *worker) find(ctx context.Context, tag string) (id string, known bool) {
	var session struct {
		Commands []struct {
			ID      string `json:"id"`
			Command string `json:"command"`
		} `json:"commands"`
	}
	_, err := w.s.toolbox.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/process/session/" + url.PathEscape(w.session), Retry: httpapi.Idempotent}, &session)
	if err != nil {
		return "", false
	}
	for _, c := range session.Commands {
		if strings.Contains(c.Command, tag) {
			return c.ID, true
		}
	}
	return "", true
}

// untouched reports whether err says that nothing of the request was carried out.
func untouched(err error) bool {
	if _, refused := errors.AsType[*remote.CredentialError](err); refused {
		return true
	}
	if _, limited := errors.AsType[*remote.LimitError](err); limited {
		return true
	}
	e, ok := asError(err)
	return ok && !e.Doubtful()
}

// maxLog is how much a loop's log may grow before the worker is replaced: a connection that breaks
// has to read it all again.
const maxLog = 16 << 20

// worn reports whether the worker should be replaced.
func (w *worker) worn() bool { return w.log != nil && w.log.got > maxLog }

// drop ends the connection.
func (w *worker) drop() {
	if w.log != nil {
		w.log.drop()
	}
}

// end tells the loop to end, and its shell with it, once the command that may still run has. The
// session is not deleted: that would kill what earlier commands have left running.
func (w *worker) end(ctx context.Context) {
	w.drop()
	if w.command == "" {
		return
	}
	req, err := chunked(&httpapi.Request{Method: http.MethodPost, Path: commandPath(w.session, w.command) + "/input", Timeout: killTime}, map[string]string{"data": lastLine})
	if err == nil {
		w.s.toolbox.Do(ctx, req, nil)
	}
}

// discard deletes the session of a worker that has run nothing.
func (w *worker) discard(ctx context.Context) {
	w.drop()
	w.s.toolbox.Do(ctx, &httpapi.Request{Method: http.MethodDelete, Path: "/process/session/" + url.PathEscape(w.session), Timeout: killTime}, nil)
}
