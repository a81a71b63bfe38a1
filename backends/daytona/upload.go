//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

// idleTime is how long a transfer may be silent. As a whole it may take as long as it needs.
const idleTime = 60 * time.Second

// transferTries is how often a transfer that broke is gone on with, without having got any further.
const transferTries = 4

// WriteFile implements driver.Files. A transfer that breaks is begun again if r can be rewound, or if
// little of it was read. After an error the last Read of r may still be under way.
func (s *sandbox) WriteFile(ctx context.Context, path string, r io.Reader) error {
	from := newSource(r)
	for try := 0; ; try++ {
		err := s.upload(ctx, path, from)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, failed := errors.AsType[*sourceError](err); failed || try == transferTries || from.spent() {
			return s.explain(ctx, err)
		}
		wait := httpapi.Backoff(try)
		limit, limited := errors.AsType[*remote.LimitError](err)
		switch {
		case limited && limit.Wait <= longestWait:
			wait = max(wait, limit.Wait)
		case restartable(err) && !says(err, 400) || deaf(err) && untouched(err):
			if err := s.revive(ctx); err != nil {
				return err
			}
		case untouched(err):
			return s.explain(ctx, err)
		}
		if deadline, ok := ctx.Deadline(); limited && ok && time.Until(deadline) < wait {
			return err
		}
		if !from.rewind() {
			return s.explain(ctx, err)
		}
		if !pause.For(ctx, wait) {
			return ctx.Err()
		}
	}
}

// longestWait is how long a transfer waits when it is told to; a caller who would have to wait longer
// is told so.
const longestWait = 30 * time.Second

// upload sends a file in the one form that every version of the toolbox has, and checks that all
// of it has arrived. When it returns nothing reads from any more, unless ctx has ended or from is
// spent.
func (s *sandbox) upload(ctx context.Context, path string, from *source) error {
	s.pulse.enter()
	defer s.pulse.leave()
	limited, idle := httpapi.WithIdle(ctx, idleTime)
	defer idle.Stop()
	pr, pw := io.Pipe()
	// net/http waits for the body even when the context has ended.
	defer context.AfterFunc(limited, func() { pr.CloseWithError(errEnded) })()
	form := multipart.NewWriter(pw)
	written := make(chan fillResult, 1)
	go func() { // ends when the pipe is closed and the last read has returned
		n, err := fill(form, path, reader{from, idle})
		written <- fillResult{n, err}
		pw.CloseWithError(err)
	}()
	var answer struct {
		Files []struct {
			Bytes int64 `json:"bytes"`
		} `json:"files"`
	}
	_, err := s.toolbox.Do(limited, &httpapi.Request{
		Method: http.MethodPost, Path: "/files/bulk-upload", Length: -1, Timeout: 24 * time.Hour,
		Header: http.Header{"Content-Type": {form.FormDataContentType()}},
		Body:   func() (io.Reader, error) { return io.MultiReader(pr), nil }, // it is asked for twice, and read once
	}, &answer)
	if err != nil {
		err = idleCause(limited, err)
	}
	pr.CloseWithError(errEnded)
	if err != nil && from.spent() {
		return err // there is nothing to wait for
	}
	var sent fillResult
	select {
	case sent = <-written:
	case <-ctx.Done():
		return ctx.Err()
	}
	switch {
	case sent.err != nil && !errors.Is(sent.err, errEnded):
		return &sourceError{fmt.Errorf("writing %s: %w", path, sent.err)}
	case err != nil:
		return err
	case len(answer.Files) != 1 || answer.Files[0].Bytes != sent.n || sent.err != nil:
		return fmt.Errorf("daytona: writing %s: %d bytes were sent, the toolbox says %+v", path, sent.n, answer.Files)
	}
	return nil
}

// errEnded closes the pipe of a request that has ended.
var errEnded = errors.New("the request has ended")

// sourceError is an error of what a file is written from.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// fillResult is how much of a source was sent, and why not all of it.
type fillResult struct {
	n   int64
	err error
}

// fill writes the form: the toolbox wants the path before the file.
func fill(form *multipart.Writer, path string, r io.Reader) (n int64, err error) {
	if err := form.WriteField("files[0].path", path); err != nil {
		return 0, err
	}
	part, err := form.CreateFormFile("files[0].file", "file")
	if err != nil {
		return 0, err
	}
	if n, err = io.Copy(part, r); err != nil {
		return n, err
	}
	return n, form.Close()
}

// idleCause is err, or the silence that led to it.
func idleCause(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*httpapi.ErrIdle](context.Cause(ctx)); ok {
		return &httpapi.Error{Op: "transfer", Message: e.Error(), Cut: true}
	}
	return err
}
