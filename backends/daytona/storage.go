//go:build !remotebox_runner

package daytona

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/remote-box/remote/internal/httpapi"
)

// storage is where build contexts are uploaded to: one organization's part of an S3 bucket, with
// credentials for an hour.
type storage struct {
	http   *httpapi.Client
	signer signer
	base   *url.URL
	bucket string
	org    string
}

// storage asks for access to the object storage.
func (a *api) storage(ctx context.Context) (*storage, error) {
	var access struct {
		AccessKey    string `json:"accessKey"`
		Secret       string `json:"secret"`
		SessionToken string `json:"sessionToken"`
		URL          string `json:"storageUrl"`
		Organization string `json:"organizationId"`
		Bucket       string `json:"bucket"`
		Region       string `json:"region"` // not given by servers of version 0.190
	}
	_, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/object-storage/push-access", Retry: httpapi.Idempotent}, &access)
	if says(err, http.StatusServiceUnavailable) {
		return nil, fmt.Errorf("daytona: this deployment has no object storage, so that nothing can be built on it: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if _, err := checkURL(access.URL); err != nil {
		return nil, fmt.Errorf("daytona: the object storage's URL: %w", err)
	}
	base, err := url.Parse(strings.TrimRight(access.URL, "/"))
	if err != nil {
		return nil, errors.New("daytona: the object storage's URL is malformed")
	}
	client := *a.http
	client.Base, client.Header = "", nil
	client.Secrets = append(append([]string(nil), client.Secrets...), access.AccessKey, access.Secret, access.SessionToken)
	return &storage{
		http: &client, base: base, bucket: access.Bucket, org: access.Organization,
		signer: signer{access.AccessKey, access.Secret, access.SessionToken, cmp.Or(access.Region, "us-east-1")},
	}, nil
}

// put uploads an archive under its digest unless it is there.
func (s *storage) put(ctx context.Context, a *archive, log io.Writer) error {
	prefix := s.org + "/" + a.sum + "/"
	there, err := s.has(ctx, prefix)
	if err != nil || there {
		return err
	}
	fmt.Fprintf(log, "uploading %.1f MB\n", float64(a.size)/1e6)
	u := *s.base
	u.Path += "/" + s.bucket + "/" + prefix + "context.tar"
	ctx, idle := httpapi.WithIdle(ctx, idleTime)
	defer idle.Stop()
	body := &archiveReader{ctx: ctx, archive: a}
	defer func() { body.Close() }()
	header := s.signer.sign(http.MethodPut, &u, http.Header{"Content-Type": {"application/x-tar"}}, a.sum, time.Now())
	resp, err := s.http.Send(ctx, &httpapi.Request{
		Method: http.MethodPut, Path: u.String(), Header: header, Retry: httpapi.Idempotent, Length: a.size,
		Body: func() (io.Reader, error) {
			body.Close()
			body = &archiveReader{ctx: ctx, archive: a}
			return idle.Reader(body), nil
		},
	})
	if err != nil {
		return fmt.Errorf("daytona: uploading the build context: %w", idleCause(ctx, err))
	}
	return resp.Body.Close()
}

// has reports whether there is anything under a prefix.
func (s *storage) has(ctx context.Context, prefix string) (bool, error) {
	u := *s.base
	u.Path += "/" + s.bucket + "/"
	u.RawQuery = url.Values{"list-type": {"2"}, "max-keys": {"1"}, "prefix": {prefix}}.Encode()
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	resp, err := s.http.Send(limited, &httpapi.Request{
		Method: http.MethodGet, Path: u.String(), Retry: httpapi.Idempotent,
		Header: s.signer.sign(http.MethodGet, &u, nil, emptySum, time.Now()),
	})
	if err != nil {
		return false, fmt.Errorf("daytona: looking into the object storage: %w", err)
	}
	defer resp.Body.Close()
	var list struct {
		Contents []struct {
			Key string `xml:"Key"`
		} `xml:"Contents"`
	}
	if err := xml.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&list); err != nil {
		return false, fmt.Errorf("daytona: the object storage's answer can't be understood: %w", err)
	}
	return len(list.Contents) > 0, nil
}
