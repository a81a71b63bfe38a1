//go:build !remotebox_runner

package daytonatest

import (
	"encoding/xml"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

const maxParts = 10_000

// multipart is an upload in parts, as clients do it that do not know the size beforehand (the Python SDK is one): begin, send
// parts in any order, complete or abort.
func (b *bucket) multipart(w http.ResponseWriter, r *http.Request, key string, body io.Reader) error {
	q := r.URL.Query()
	id := q.Get("uploadId")
	if r.Method == http.MethodPost && q.Has("uploads") {
		id = randomHex(16)
		b.mu.Lock()
		b.uploads[id] = nil
		b.mu.Unlock()
		return writeXML(w, struct {
			XMLName               xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ InitiateMultipartUploadResult"`
			Bucket, Key, UploadId string
		}{Bucket: b.name, Key: key, UploadId: id})
	}
	b.mu.Lock()
	parts, known := b.uploads[id]
	b.mu.Unlock()
	if !known {
		return &s3Error{404, "NoSuchUpload", "The specified upload does not exist."}
	}
	switch r.Method {
	case http.MethodPut:
		n, err := strconv.Atoi(q.Get("partNumber"))
		if err != nil || n < 1 || n > maxParts {
			return &s3Error{400, "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive"}
		}
		o, err := b.save(body)
		if err != nil {
			return err
		}
		b.mu.Lock()
		parts = b.uploads[id]
		for len(parts) < n {
			parts = append(parts, "")
		}
		parts[n-1] = o.file
		b.uploads[id] = parts
		b.mu.Unlock()
		w.Header().Set("ETag", o.etag)
		w.WriteHeader(200)
		return nil
	case http.MethodDelete:
		b.forget(id)
		w.WriteHeader(204)
		return nil
	case http.MethodPost:
		return b.complete(w, key, id, parts, body)
	}
	return &s3Error{405, "MethodNotAllowed", "The specified method is not allowed against this resource."}
}

func (b *bucket) complete(w http.ResponseWriter, key, id string, parts []string, body io.Reader) error {
	if _, err := io.Copy(io.Discard, body); err != nil { // what it lists, we have; it has to be what was signed
		return err
	}
	var readers []io.Reader
	for _, name := range parts {
		if name == "" {
			return &s3Error{400, "InvalidPart", "One or more of the specified parts could not be found."}
		}
		f, err := os.Open(filepath.Join(b.dir, name))
		if err != nil {
			return err
		}
		defer f.Close()
		readers = append(readers, f)
	}
	o, err := b.save(io.MultiReader(readers...))
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.objects[key] = o
	b.mu.Unlock()
	b.forget(id)
	return writeXML(w, struct {
		XMLName           xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUploadResult"`
		Bucket, Key, ETag string
	}{Bucket: b.name, Key: key, ETag: o.etag})
}

func (b *bucket) forget(id string) {
	b.mu.Lock()
	parts := b.uploads[id]
	delete(b.uploads, id)
	b.mu.Unlock()
	for _, name := range parts {
		if name != "" {
			_ = os.Remove(filepath.Join(b.dir, name))
		}
	}
}

func writeXML(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/xml")
	_, _ = io.WriteString(w, xml.Header)
	return xml.NewEncoder(w).Encode(v)
}
