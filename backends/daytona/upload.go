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

	"github.com/remote-box/remote/internal/httpapi"
)

// idleTime is how long a transfer may be silent. As a whole it may take as long as it needs.
const idleTime = 60 * time.Second

// transferTries is how often a transfer that broke is gone on with, without having got any further.
const transferTries = 4

// WriteFile implements driver.Files. A transfer that breaks is begun again if r can be rewound.
func (s *sandbox) WriteFile(ctx context.Context, path string, r io.Reader) error {
	seeker, _ := r.(io.Seeker)
	for try := 0; ; try++ {
		sent, err := s.upload(ctx, path, r)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		again := seeker != nil || sent == 0
		switch {
		case !again || try == transferTries:
			return s.explain(ctx, err)
		case restartable(err) && !says(err, 400) || deaf(err) && untouched(err):
			if err := s.revive(ctx); err != nil {
				return err
			}
		case untouched(err):
			return s.explain(ctx, err)
		}
		if seeker != nil {
			if _, err := seeker.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		if !sleep(ctx, httpapi.Backoff(try)) {
			return ctx.Err()
		}
	}
}

// upload sends a file in the one form that every version of the toolbox has, and checks that all
// of it has arrived.
func (s *sandbox) upload(ctx context.Context, path string, r io.Reader) (sent int64, err error) {
	ctx, idle := httpapi.WithIdle(ctx, idleTime)
	defer idle.Stop()
	pr, pw := io.Pipe()
	form := multipart.NewWriter(pw)
	written := make(chan int64, 1)
	go func() {
		n, err := fill(form, path, idle.Reader(r))
		written <- n
		pw.CloseWithError(err)
	}()
	var answer struct {
		Files []struct {
			Bytes int64 `json:"bytes"`
		} `json:"files"`
	}
	_, err = s.toolbox.Do(ctx, &httpapi.Request{
		Method: http.MethodPost, Path: "/files/bulk-upload", Length: -1, Timeout: 24 * time.Hour,
		Header: http.Header{"Content-Type": {form.FormDataContentType()}},
		Body:   func() (io.Reader, error) { return io.MultiReader(pr), nil }, // it is asked for twice, and read once
	}, &answer)
	pr.CloseWithError(errors.New("the request has ended"))
	sent = <-written
	if err != nil {
		return sent, idleCause(ctx, err)
	}
	if len(answer.Files) != 1 || answer.Files[0].Bytes != sent {
		return sent, fmt.Errorf("daytona: writing %s: %d bytes were sent, the toolbox says %+v", path, sent, answer.Files)
	}
	return sent, nil
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
