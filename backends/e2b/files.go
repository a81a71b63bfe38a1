//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

const (
	// fileIdle is how long a transfer may stand still; it may take as long as it needs.
	fileIdle = time.Minute
	// fileTries is how often in a row a transfer is begun or taken up again without getting on.
	fileTries = 6
)

// fileRequest makes a request for a file of the sandbox. Its user is the sandbox's own.
func (s *sandbox) fileRequest(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	u := s.envd.base + "/files?" + url.Values{"path": {path}}.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u, body)
	if err != nil {
		return nil, err
	}
	for k, v := range s.envd.header() {
		req.Header[k] = v
	}
	return req, nil
}

// WriteFile implements driver.Files. A transfer that breaks begins anew if r can be rewound.
func (s *sandbox) WriteFile(ctx context.Context, path string, r io.Reader) error {
	defer s.use()()
	seeker, _ := r.(io.Seeker)
	var start int64
	if seeker != nil {
		var err error
		if start, err = seeker.Seek(0, io.SeekCurrent); err != nil {
			seeker = nil
		}
	}
	sent := false
	put := func() error {
		if sent {
			if seeker == nil {
				return errNoRewind
			}
			if _, err := seeker.Seek(start, io.SeekStart); err != nil {
				return err
			}
		}
		sent = true
		return s.upload(ctx, path, r)
	}
	return s.transfer(ctx, "writing", path, put)
}

// errNoRewind is a transfer that can't begin anew.
var errNoRewind = errors.New("it broke, and its source can be read only once")

// transfer repeats a transfer that broke, as long as that may help.
func (s *sandbox) transfer(ctx context.Context, what, path string, f func() error) error {
	var first error
	for try := 0; ; try++ {
		err := s.delivered(ctx, f)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errNoRewind):
			return fmt.Errorf("%s %s in E2B sandbox %s: %w: %w", what, path, s.id, err, first)
		case lasting(err) || try == fileTries:
			return fmt.Errorf("%s %s in E2B sandbox %s: %w", what, path, s.id, err)
		}
		first = err
		if !pause.For(ctx, httpapi.Backoff(try)) {
			return ctx.Err()
		}
	}
}

// lasting reports whether a transfer would fail again.
func lasting(err error) bool {
	if errors.Is(err, fs.ErrNotExist) || final(err) {
		return true
	}
	r, ok := errors.AsType[*refusal](err)
	if ok {
		return r.status < 500 || r.status == http.StatusInsufficientStorage
	}
	_, source := errors.AsType[*sourceError](err)
	return source
}

// sourceError is an error of what is to be uploaded.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

func (s *sandbox) upload(ctx context.Context, path string, r io.Reader) error {
	ctx, idle := httpapi.WithIdle(ctx, fileIdle)
	defer idle.Stop()
	src := &source{r: r}
	// NopCloser: the transport must not close what may have to be read again.
	req, err := s.fileRequest(ctx, http.MethodPost, path, io.NopCloser(idle.Reader(src)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	resp, err := s.envd.send(req)
	if src.err != nil {
		return &sourceError{src.err}
	}
	if err != nil {
		return orIdle(ctx, err)
	}
	defer resp.Body.Close()
	// Its content is of no interest, but the file is there only once it has come.
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	return orIdle(ctx, err)
}

// source remembers its reader's error.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// ReadFile implements driver.Files. A transfer that breaks is taken up where it was.
func (s *sandbox) ReadFile(ctx context.Context, path string) (io.ReadCloser, error) {
	d := &download{s: s, ctx: ctx, path: path, release: s.use()}
	if err := d.open(); err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

// download is a file on its way.
type download struct {
	s       *sandbox
	ctx     context.Context
	path    string
	release func()

	body  io.ReadCloser
	idle  *httpapi.Idle
	in    context.Context
	tag   string // Last-Modified of the first answer: the file must stay the same
	at    int64  // bytes read so far
	tries int    // since the last byte
}

// open begins the transfer, at the byte that is wanted next.
func (d *download) open() error {
	return d.s.transfer(d.ctx, "reading", d.path, func() error {
		ctx, idle := httpapi.WithIdle(d.ctx, fileIdle)
		resp, err := d.request(ctx)
		if err != nil {
			err = orIdle(ctx, err)
			idle.Stop()
			return err
		}
		d.body, d.in, d.idle = resp.Body, ctx, idle
		return nil
	})
}

func (d *download) request(ctx context.Context) (*http.Response, error) {
	req, err := d.s.fileRequest(ctx, http.MethodGet, d.path, nil)
	if err != nil {
		return nil, err
	}
	if d.at > 0 {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(d.at, 10)+"-")
	}
	resp, err := d.s.envd.send(req)
	if r, ok := errors.AsType[*refusal](err); ok && r.status == http.StatusNotFound && !r.proxy {
		return nil, &fs.PathError{Op: "open", Path: d.path, Err: fs.ErrNotExist}
	} else if ok && r.status == http.StatusRequestedRangeNotSatisfiable {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if d.at == 0 {
		d.tag = resp.Header.Get("Last-Modified")
	} else if resp.StatusCode != http.StatusPartialContent || resp.Header.Get("Last-Modified") != d.tag {
		resp.Body.Close()
		return nil, &sourceError{errors.New("the file has changed while it was read")}
	}
	return resp, nil
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	for {
		d.idle.Touch()
		n, err := d.body.Read(p)
		d.idle.Pause()
		d.at += int64(n)
		if n > 0 {
			d.tries = 0
		}
		if n > 0 || err == nil || err == io.EOF {
			if n > 0 && err != io.EOF {
				err = nil // comes again
			}
			return n, err
		}
		if d.ctx.Err() != nil {
			return 0, d.ctx.Err()
		}
		err = orIdle(d.in, err)
		d.shut()
		d.tries++
		if d.tries > fileTries {
			return 0, fmt.Errorf("reading %s in E2B sandbox %s: %w", d.path, d.s.id, err)
		}
		if !pause.For(d.ctx, httpapi.Backoff(d.tries-1)) {
			return 0, d.ctx.Err()
		}
		if err := d.open(); err != nil {
			return 0, err
		}
	}
}

func (d *download) shut() {
	if d.body != nil {
		d.body.Close()
		d.idle.Stop()
		d.body = nil
	}
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.shut()
	if d.release != nil {
		d.release()
		d.release = nil
	}
	return nil
}
