//go:build unix && !remotebox_runner

package daytonatest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
)

// form is a multipart body of names and values in order; a name that ends in "file" is a file.
func form(t *testing.T, namesAndValues ...string) (io.Reader, string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for i := 0; i < len(namesAndValues); i += 2 {
		name, value := namesAndValues[i], namesAndValues[i+1]
		var part io.Writer
		var err error
		if strings.HasSuffix(name, "file") {
			part, err = w.CreateFormFile(name, "name")
		} else {
			part, err = w.CreateFormField(name)
		}
		if err == nil {
			_, err = io.WriteString(part, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &buf, w.FormDataContentType()
}

func TestUploads(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	body, kind := form(t, "file", "one")
	c.is(c.box(id, "POST", "/files/upload?path=a/b/one", body, "Content-Type", kind), 200)
	c.execOK(id, "cat a/b/one; stat -c %a a a/b/one", "one750\n644\n")

	body, kind = form(t, "files[0].path", "c/two", "files[0].file", "two", "files[1].path", "empty", "files[1].file", "")
	c.is(c.box(id, "POST", "/files/bulk-upload", body, "Content-Type", kind), 200, `"bytes":3`, `"bytes":0`)
	c.execOK(id, "cat c/two empty; stat -c %a c c/two", "two755\n644\n")

	// The path has to come before the file.
	body, kind = form(t, "files[0].file", "x", "files[0].path", "late")
	c.is(c.box(id, "POST", "/files/bulk-upload", body, "Content-Type", kind), 400, "missing path")
	c.is(c.box(id, "POST", "/files/bulk-upload", strings.NewReader("x")), 400)
	body, kind = form(t, "other", "x")
	c.is(c.box(id, "POST", "/files/upload?path=x", body, "Content-Type", kind), 400)

	c.is(c.box(id, "POST", "/files/upload-v2?path=raw", strings.NewReader("raw")), 200, `"bytes":3`)
	// An upload writes in place and keeps the mode that the file has.
	c.is(c.box(id, "POST", "/files/permissions?path=raw&mode=755", nil), 200)
	c.is(c.box(id, "POST", "/files/upload-v2?path=raw", strings.NewReader("#!/bin/sh\necho run\n")), 200)
	c.execOK(id, "./raw", "run\n")
	c.is(c.box(id, "POST", "/files/upload-v2", strings.NewReader("x")), 400)
}

func TestDownloads(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.is(c.box(id, "POST", "/files/upload-v2?path=f", strings.NewReader("0123456789")), 200)
	a := c.is(c.box(id, "GET", "/files/download?path=f", nil), 200)
	if string(a.body) != "0123456789" || a.header.Get("Content-Length") != "10" {
		t.Errorf("%q %v", a.body, a.header)
	}
	if a := c.is(c.box(id, "GET", "/files/download?path=f", nil, "Range", "bytes=4-6"), 206); string(a.body) != "456" {
		t.Errorf("range: %q", a.body)
	}
	c.is(c.box(id, "GET", "/files/download?path=none", nil), 404, "FILE_NOT_FOUND")
	c.is(c.box(id, "GET", "/files/download?path=.", nil), 400)
	c.execOK(id, "mkfifo pipe", "")
	c.is(c.box(id, "GET", "/files/download?path=pipe", nil), 400) // and it does not hang
	c.execOK(id, "echo still here", "still here\n")

	a = c.is(c.box(id, "POST", "/files/bulk-download", fields{"paths": []string{"f", "none"}}), 200)
	_, params, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil || params["boundary"] != "DAYTONA-FILE-BOUNDARY" {
		t.Fatalf("%v %v", params, err)
	}
	r := multipart.NewReader(bytes.NewReader(a.body), params["boundary"])
	for _, want := range []struct{ name, file, body string }{{"file", "f", "0123456789"}, {"error", "none", "FILE_NOT_FOUND"}} {
		part, err := r.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(part)
		if err != nil || part.FormName() != want.name || part.FileName() != want.file || !strings.Contains(string(data), want.body) {
			t.Errorf("part %s %s %q %v", part.FormName(), part.FileName(), data, err)
		}
	}
}

func TestFileCalls(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	for _, tt := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"POST", "/files/folder?path=d/e&mode=700", 201, ""},
		{"POST", "/files/folder?path=d/e&mode=700", 201, ""}, // again
		{"POST", "/files/folder?path=d/e&mode=9", 400, "mode"},
		{"GET", "/files/info?path=d/e", 200, `"isDir":true`},
		{"GET", "/files/info?path=d/e", 200, `"permissions":"0700"`},
		{"DELETE", "/files?path=d", 400, "recursive"},
		{"DELETE", "/files?path=none", 404, "FILE_NOT_FOUND"},
		{"DELETE", "/files", 400, "path is required"},
		{"POST", "/files/permissions?path=d&mode=x", 400, "mode"},
		{"GET", "/files?path=none", 404, ""},
		{"GET", "/files?depth=0", 400, "depth"},
		{"GET", "/files?path=d", 200, `"name":"e"`},
		{"POST", "/files/move?source=none&destination=x", 404, ""},
		{"POST", "/files/move?source=d&destination=d2", 200, ""},
		{"POST", "/files/folder?path=d", 201, ""},
		{"POST", "/files/move?source=d&destination=d2", 409, "CONFLICT"},
		{"DELETE", "/files?path=d2&recursive=true", 204, ""},
		{"GET", "/files/info?path=d2", 404, ""},
		{"GET", "/files/search?path=.&pattern=[", 400, "syntax error"},
	} {
		a := c.box(id, tt.method, tt.path, nil)
		if a.status != tt.status || !strings.Contains(string(a.body), tt.text) {
			t.Errorf("%s %s: %d %s, want %d %q", tt.method, tt.path, a.status, a.body, tt.status, tt.text)
		}
	}
	c.execOK(id, "mkdir -p t/u; echo x > t/a; echo x > t/u/b", "")
	var list []fields
	a := c.is(c.box(id, "GET", "/files?path=t&depth=2", nil), 200)
	if err := json.Unmarshal(a.body, &list); err != nil || len(list) != 3 {
		t.Errorf("%v: %s", err, a.body)
	}
	c.is(c.box(id, "POST", "/files/replace", fields{"files": []string{"t/a", "none"}, "pattern": "x", "newValue": "y"}), 200, `"success":true`, `"success":false`)
	c.execOK(id, "cat t/a", "y\n")
	c.is(c.box(id, "GET", "/work-dir", nil), 200, "/home/daytona")
	c.is(c.box(id, "GET", "/user-home-dir", nil), 200, "/home/daytona")
}

// Big bodies pass through in both directions, and are not kept in memory on the way.
func TestBigFile(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	const size = 64 << 20
	c.is(c.box(id, "POST", "/files/upload-v2?path=big", io.LimitReader(zeros{}, size)), 200)
	req, err := http.NewRequestWithContext(c.ctx, "GET", c.srv.ToolboxURL()+"/"+id+"/files/download?path=big", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.srv.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); n != size || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
