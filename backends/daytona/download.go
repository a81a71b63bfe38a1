//go:build !remotebox_runner

package daytona

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/remote-box/remote/internal/httpapi"
)

// ReadFile implements driver.Files. A transfer that breaks goes on where it was.
func (s *sandbox) ReadFile(ctx context.Context, path string) (io.ReadCloser, error) {
	d := &download{s: s, path: path, size: -1}
	d.ctx, d.idle = httpapi.WithIdle(ctx, idleTime)
	err := d.open()
	if err != nil && restartable(err) && !says(err, http.StatusNotFound) && ctx.Err() == nil {
		if err = s.revive(ctx); err == nil {
			err = d.open()
		}
	}
	if err != nil {
		d.idle.Stop()
		if says(err, http.StatusNotFound) && !deaf(err) {
			return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
		}
		return nil, s.explain(ctx, err)
	}
	return d, nil
}

// download is a file that is being read.
type download struct {
	s    *sandbox
	path string
	ctx  context.Context // of the transfer as a whole; it ends with Close
	idle *httpapi.Idle

	body io.ReadCloser
	size int64 // of the file, once it is known
	at   int64
	fail int // breaks since anything was read
}

// open begins the transfer at the place that was reached.
func (d *download) open() error {
	header := http.Header{"Accept-Encoding": {"identity"}}
	if d.at > 0 {
		header.Set("Range", "bytes="+strconv.FormatInt(d.at, 10)+"-")
	}
	d.idle.Touch()
	resp, err := d.s.toolbox.Send(d.ctx, &httpapi.Request{
		Method: http.MethodGet, Path: "/files/download", Query: url.Values{"path": {d.path}}, Header: header, Retry: httpapi.Idempotent,
	})
	if err != nil {
		return idleCause(d.ctx, err)
	}
	rest := resp.ContentLength
	switch {
	case d.at == 0:
	case resp.StatusCode != http.StatusPartialContent:
		resp.Body.Close()
		return &httpapi.Error{Op: "GET /files/download", Message: "the rest of a file was asked for, all of it came"}
	}
	if rest >= 0 && d.size < 0 {
		d.size = d.at + rest
	}
	if rest >= 0 && d.at+rest != d.size {
		resp.Body.Close()
		return fmt.Errorf("daytona: %s changes while it is read", d.path)
	}
	d.body = resp.Body
	return nil
}

// Read implements io.Reader. The end is where the file's length says, never where a connection
// ends.
func (d *download) Read(p []byte) (int, error) {
	for {
		if d.size >= 0 && d.at >= d.size {
			return 0, io.EOF
		}
		d.idle.Touch()
		n, err := d.body.Read(p)
		d.idle.Pause()
		d.at += int64(n)
		if n > 0 {
			d.fail = 0
			d.s.pulse.beat()
			return n, nil
		}
		if err == io.EOF && d.size < 0 {
			return 0, io.EOF
		}
		if err == nil {
			continue
		}
		d.body.Close()
		d.fail++
		for ; ; d.fail++ {
			if d.fail > transferTries || d.ctx.Err() != nil {
				return 0, d.s.explain(d.ctx, &httpapi.Error{Op: "GET /files/download", Message: "the transfer broke off", Cut: true, Err: idleCause(d.ctx, err)})
			}
			if err = d.open(); err == nil {
				break
			}
		}
	}
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.idle.Stop()
	if d.body == nil {
		return nil
	}
	return d.body.Close()
}
