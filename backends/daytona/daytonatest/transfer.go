//go:build !remotebox_runner

package daytonatest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// receive writes what comes in to a file, in place.
func (d *daemon) receive(name string, body io.Reader, parents fs.FileMode) (int64, error) {
	if err := makeDirs(d.m, d.who, path.Dir(name), parents); err != nil {
		return 0, err
	}
	f, err := createFile(d.m, d.who, name, 0o644)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(f, body)
	return n, errors.Join(err, f.Close())
}

func (d *daemon) upload(w http.ResponseWriter, r *http.Request) {
	name, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	form, err := r.MultipartReader()
	if err != nil {
		d.fail(w, r, 400, "", err.Error())
		return
	}
	for {
		part, err := form.NextPart()
		if err != nil {
			d.fail(w, r, 400, "", "http: no such file")
			return
		}
		if part.FormName() != "file" {
			continue
		}
		if _, err := d.receive(name, part, 0o750); err != nil {
			d.failFile(w, r, err)
			return
		}
		w.WriteHeader(200)
		return
	}
}

func (d *daemon) uploadV2(w http.ResponseWriter, r *http.Request) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		d.upload(w, r)
		return
	}
	name, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	n, err := d.receive(name, r.Body, 0o755)
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	writeJSON(w, 200, map[string]any{"path": name, "bytes": n})
}

var bulkField = regexp.MustCompile(`^files\[(\d+)\]\.(path|file)$`)

func (d *daemon) bulkUpload(w http.ResponseWriter, r *http.Request) {
	form, err := r.MultipartReader()
	if err != nil {
		d.fail(w, r, 400, "", "invalid multipart form: "+err.Error())
		return
	}
	type uploaded struct {
		Path  string `json:"path"`
		Bytes int64  `json:"bytes"`
	}
	files, problems := []uploaded{}, []string{}
	paths := map[string]string{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			problems = append(problems, err.Error())
			break
		}
		field := bulkField.FindStringSubmatch(part.FormName())
		if field == nil {
			continue
		}
		index := field[1]
		if field[2] == "path" {
			text, err := io.ReadAll(io.LimitReader(part, 64<<10))
			if err != nil {
				problems = append(problems, fmt.Sprintf("files[%s].path: %v", index, err))
			}
			paths[index] = string(text)
			continue
		}
		if paths[index] == "" {
			problems = append(problems, fmt.Sprintf("files[%s]: missing path", index)) // it has to come first
			continue
		}
		name := d.abs(paths[index])
		n, err := d.receive(name, part, 0o755)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", paths[index], err))
			continue
		}
		files = append(files, uploaded{name, n})
	}
	if len(problems) > 0 {
		writeJSON(w, 400, map[string]any{"errors": problems, "files": files})
		return
	}
	writeJSON(w, 200, map[string]any{"files": files})
}

func (d *daemon) download(w http.ResponseWriter, r *http.Request) {
	name, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	f, info, err := openFile(d.m, name)
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	http.ServeContent(w, r, "", info.ModTime(), f)
}

func (d *daemon) bulkDownload(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Paths []string `json:"paths"`
	}
	if err := readJSON(w, r, &req); err != nil || len(req.Paths) == 0 {
		d.fail(w, r, 400, "INVALID_REQUEST_BODY", "request body must be {\"paths\": [ ... ]} and non-empty")
		return
	}
	form := multipart.NewWriter(w)
	if err := form.SetBoundary("DAYTONA-FILE-BOUNDARY"); err != nil {
		d.fail(w, r, 500, "", err.Error())
		return
	}
	w.Header().Set("Content-Type", form.FormDataContentType())
	w.WriteHeader(200)
	for _, p := range req.Paths {
		if err := d.sendPart(form, r, p); err != nil {
			return // the client has gone
		}
	}
	_ = form.Close()
}

// sendPart sends one file, or why there is none.
func (d *daemon) sendPart(form *multipart.Writer, r *http.Request, p string) error {
	f, info, err := openFile(d.m, d.abs(p))
	header := textproto.MIMEHeader{}
	if err != nil {
		status, code := fileStatus(err)
		body := []byte(err.Error())
		header.Set("Content-Type", "text/plain; charset=utf-8")
		if !d.srv.cfg.V190 {
			header.Set("Content-Type", "application/json")
			if body, err = json.Marshal(d.srv.daemonError(r, status, code, err.Error())); err != nil {
				return err
			}
		}
		header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="error"; filename="%s"`, escapeQuotes(p)))
		part, err := form.CreatePart(header)
		if err != nil {
			return err
		}
		_, err = part.Write(body)
		return err
	}
	defer f.Close()
	header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="file"; filename="%s"`, escapeQuotes(p)))
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	part, err := form.CreatePart(header)
	if err != nil {
		return err
	}
	_, err = io.Copy(part, f)
	return err
}

func escapeQuotes(text string) string {
	return strings.NewReplacer("\\", "\\\\", `"`, "\\\"").Replace(text)
}
