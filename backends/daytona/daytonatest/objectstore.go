//go:build !remotebox_runner

package daytonatest

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// bucket is the object storage that build contexts are uploaded to: path-style S3 with one bucket, and credentials that
// reach one organization's prefix.
type bucket struct {
	url, name, region, org string
	creds                  credentials
	dir                    string

	mu      sync.Mutex
	objects map[string]object
	uploads map[string][]string // files of the parts, by upload and number
}

type object struct {
	file string // below dir
	size int64
	etag string
	at   time.Time
}

func newBucket(region, org, dir string) *bucket {
	return &bucket{
		name: "daytona-volume-builds", region: region, org: org, dir: dir, objects: map[string]object{}, uploads: map[string][]string{},
		creds: credentials{accessKey: "ASIA" + strings.ToUpper(randomHex(8)), secret: randomHex(20), session: randomHex(64)},
	}
}

func (s *Server) getPushAccess(http.ResponseWriter, *http.Request) (int, any, error) {
	if s.cfg.NoStorage {
		return 0, nil, fail(503, "Object storage is not configured")
	}
	b := s.bucket
	access := map[string]any{
		"accessKey": b.creds.accessKey, "secret": b.creds.secret, "sessionToken": b.creds.session,
		"storageUrl": b.url, "organizationId": s.orgID, "bucket": b.name,
	}
	if !s.cfg.V190 {
		access["region"] = b.region
	}
	return 200, access, nil
}

// Objects are the keys of the objects in storage.
func (s *Server) Objects() []string {
	s.bucket.mu.Lock()
	defer s.bucket.mu.Unlock()
	var keys []string
	for key := range s.bucket.objects {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// open opens an object of the organization.
func (b *bucket) open(key string) (*os.File, error) {
	b.mu.Lock()
	o, ok := b.objects[b.org+"/"+key]
	b.mu.Unlock()
	if !ok {
		return nil, os.ErrNotExist
	}
	return os.Open(filepath.Join(b.dir, o.file))
}

func (b *bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	payload, err := b.verify(r)
	if err != nil {
		writeS3Error(w, err)
		return
	}
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if name != b.name {
		writeS3Error(w, &s3Error{404, "NoSuchBucket", "The specified bucket does not exist"})
		return
	}
	q := r.URL.Query()
	switch {
	case key == "" && r.Method == http.MethodGet && q.Get("list-type") == "2":
		err = b.list(w, q)
	case key != "" && !strings.HasPrefix(key, b.org+"/"):
		err = &s3Error{403, "AccessDenied", "Access Denied"}
	case key != "" && (q.Has("uploads") || q.Has("uploadId")):
		err = b.multipart(w, r, key, payload)
	case key != "" && r.Method == http.MethodPut:
		err = b.put(w, key, payload)
	case key != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		err = b.get(w, r, key)
	default:
		err = &s3Error{501, "NotImplemented", "A header you provided implies functionality that is not implemented"}
	}
	if err != nil {
		writeS3Error(w, err)
	}
}

func (b *bucket) put(w http.ResponseWriter, key string, body io.Reader) error {
	o, err := b.save(body)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.objects[key] = o
	b.mu.Unlock()
	w.Header().Set("ETag", o.etag)
	w.WriteHeader(200)
	return nil
}

// save writes a body to a file. A body that turns out not to be what was signed leaves none.
func (b *bucket) save(body io.Reader) (object, error) {
	o := object{file: randomHex(16), at: time.Now()}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return o, err
	}
	f, err := os.Create(filepath.Join(b.dir, o.file))
	if err != nil {
		return o, err
	}
	sum := md5.New()
	o.size, err = io.Copy(io.MultiWriter(f, sum), body)
	if err := errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		var refused *s3Error
		if errors.As(err, &refused) {
			return o, refused
		}
		return o, err
	}
	o.etag = `"` + hex.EncodeToString(sum.Sum(nil)) + `"`
	return o, nil
}

func (b *bucket) get(w http.ResponseWriter, r *http.Request, key string) error {
	b.mu.Lock()
	o, ok := b.objects[key]
	b.mu.Unlock()
	if !ok {
		return &s3Error{404, "NoSuchKey", "The specified key does not exist."}
	}
	data, err := os.ReadFile(filepath.Join(b.dir, o.file))
	if err != nil {
		return err
	}
	w.Header().Set("ETag", o.etag)
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", o.at, bytes.NewReader(data))
	return nil
}

type listResult struct {
	XMLName     xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
	Name        string
	Prefix      string
	KeyCount    int
	MaxKeys     int
	IsTruncated bool
	Contents    []listedObject
}

type listedObject struct {
	Key, LastModified, ETag string
	Size                    int64
	StorageClass            string
}

func (b *bucket) list(w http.ResponseWriter, q url.Values) error {
	prefix := q.Get("prefix")
	if !strings.HasPrefix(prefix, b.org) {
		return &s3Error{403, "AccessDenied", "Access Denied"}
	}
	most, err := strconv.Atoi(q.Get("max-keys"))
	if err != nil {
		most = 1000
	}
	res := listResult{Name: b.name, Prefix: prefix, MaxKeys: most}
	b.mu.Lock()
	for key, o := range b.objects {
		if strings.HasPrefix(key, prefix) {
			res.Contents = append(res.Contents, listedObject{Key: key, LastModified: stamp(o.at), ETag: o.etag, Size: o.size, StorageClass: "STANDARD"})
		}
	}
	b.mu.Unlock()
	slices.SortFunc(res.Contents, func(x, y listedObject) int { return strings.Compare(x.Key, y.Key) })
	if len(res.Contents) > most {
		res.Contents, res.IsTruncated = res.Contents[:most], true
	}
	res.KeyCount = len(res.Contents)
	return writeXML(w, res)
}

type s3Error struct {
	status        int
	code, message string
}

func (e *s3Error) Error() string { return fmt.Sprintf("%s: %s", e.code, e.message) }

func writeS3Error(w http.ResponseWriter, err error) {
	e, ok := err.(*s3Error)
	if !ok {
		e = &s3Error{500, "InternalError", err.Error()}
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(e.status)
	_, _ = fmt.Fprintf(w, "%s<Error><Code>%s</Code><Message>%s</Message><RequestId>1</RequestId></Error>", xml.Header, e.code, e.message)
}
