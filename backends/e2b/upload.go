//go:build !remotebox_runner

package e2b

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

// uploadAll gives E2B the files of every COPY that it does not have yet.
func (b *builder) uploadAll(ctx context.Context, r registered) error {
	for _, s := range b.plan.steps {
		if s.hash == "" {
			continue
		}
		if err := b.upload(ctx, r, s); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return b.failed(s.Line, fmt.Errorf("uploading its files: %w", err))
		}
	}
	return nil
}

// upload uploads one archive. A link is good for half an hour; a new one is asked for when an upload
// fails.
func (b *builder) upload(ctx context.Context, r registered, s *planStep) error {
	var err error
	for try := range 3 {
		var link struct {
			Present bool              `json:"present"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
		}
		_, err = b.c.api.Do(ctx, &httpapi.Request{
			Method: http.MethodGet, Path: "/templates/" + url.PathEscape(r.TemplateID) + "/files/" + s.hash, Retry: httpapi.Idempotent,
		}, &link)
		if err != nil {
			return err
		}
		if link.Present {
			return nil
		}
		if link.URL == "" {
			return errors.New("E2B gave no place to upload to")
		}
		if err = b.put(ctx, link.URL, link.Headers, s); err == nil {
			return nil
		}
		if status := httpapi.Status(err); status >= 400 && status < 500 && status != http.StatusForbidden || ctx.Err() != nil {
			return err
		}
		if !pause.For(ctx, httpapi.Backoff(try)) {
			return ctx.Err()
		}
	}
	return err
}

// put uploads to storage that wants to know the length beforehand (S3 answers 501 otherwise), and no
// header that its link was not signed for: links to Google's cover the Content-Type, which E2B leaves
// out (E2B infra, storage_google).
func (b *builder) put(ctx context.Context, link string, headers map[string]string, s *planStep) error {
	file, size, err := b.plan.archive(ctx, s)
	if err != nil {
		return err
	}
	ctx, idle := httpapi.WithIdle(ctx, fileIdle)
	defer idle.Stop()
	h := http.Header{"User-Agent": {userAgent}}
	for k, v := range headers {
		h.Set(k, v)
	}
	u, err := url.Parse(link)
	if err != nil {
		return errors.New("E2B gave a malformed place to upload to")
	}
	resp, err := b.c.api.Send(ctx, &httpapi.Request{
		Method: http.MethodPut, Path: link, Plain: true, Header: h, Length: size, Retry: httpapi.Idempotent,
		Body: func() (io.Reader, error) {
			f, err := os.Open(file)
			if err != nil {
				return nil, err
			}
			return &closingReader{idle.Reader(f), f}, nil
		},
		Secrets: []string{u.RawQuery},
	})
	if err != nil {
		return orIdle(ctx, err)
	}
	return resp.Body.Close()
}

// closingReader is a reader whose file the transport closes.
type closingReader struct {
	io.Reader
	io.Closer
}

// archive writes the archive of a COPY to a temporary file, once.
func (p *plan) archive(ctx context.Context, s *planStep) (file string, size int64, err error) {
	if s.archive != "" {
		return s.archive, s.archiveSize, nil
	}
	f, err := os.CreateTemp("", "remote-box-copy-")
	if err != nil {
		return "", 0, err
	}
	p.temp = append(p.temp, f.Name())
	gz, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return "", 0, err
	}
	tw := tar.NewWriter(gz)
	for _, e := range s.files {
		if err = errors.Join(ctx.Err(), err); err != nil {
			break
		}
		err = e.writeTo(tw)
	}
	err = errors.Join(err, tw.Close(), gz.Close())
	if err == nil {
		size, err = f.Seek(0, io.SeekEnd)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", 0, err
	}
	s.archive, s.archiveSize = f.Name(), size
	return s.archive, size, nil
}

// staged is an entry of an archive.
type staged struct {
	header tar.Header
	open   func() (io.ReadCloser, error) // of a file
	sum    string                        // of its content
}

func (e *staged) writeTo(tw *tar.Writer) error {
	h := e.header
	h.ModTime = time.Unix(0, 0) // the archive's bytes depend on nothing but its content
	if err := tw.WriteHeader(&h); err != nil || e.open == nil {
		return err
	}
	r, err := e.open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(tw, r)
	return err
}
