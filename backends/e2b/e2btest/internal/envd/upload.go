//go:build !remotebox_runner

package envd

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
)

// uploaded is an element of the answer to POST /files.
type uploaded struct {
	Name     string            `json:"name"`
	Path     string            `json:"path"`
	Type     string            `json:"type"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// statusError is an error with the status of the answer.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

// upload is POST /files: a body of octets, or a form with one part for each file.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	entries, err := s.receive(r)
	if err != nil {
		status := http.StatusInternalServerError
		var coded *statusError
		switch {
		case errors.As(err, &coded):
			status = coded.status
		case errors.Is(err, syscall.ENOSPC):
			status = http.StatusInsufficientStorage
		}
		writeError(w, status, err.Error())
		return
	}
	// envd leaves the type to be guessed, so it isn't JSON.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	json.NewEncoder(w).Encode(entries)
}

func (s *Server) receive(r *http.Request) ([]uploaded, error) {
	query := r.URL.Query()
	user, err := s.user(query.Get("username"))
	if err != nil {
		return nil, &statusError{http.StatusUnauthorized, err.Error()}
	}
	metadata := make(map[string]string)
	for name, values := range r.Header {
		if key, ok := strings.CutPrefix(name, "X-Metadata-"); ok {
			metadata[strings.ToLower(key)] = values[0]
		}
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	body := io.Reader(r.Body)
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		if body, err = gzip.NewReader(r.Body); err != nil {
			return nil, &statusError{http.StatusBadRequest, "error decompressing the body: " + err.Error()}
		}
	default:
		return nil, &statusError{http.StatusBadRequest, "unsupported content encoding: " + encoding}
	}
	switch kind {
	case "application/octet-stream":
		if query.Get("path") == "" {
			return nil, &statusError{http.StatusBadRequest, "path is required for application/octet-stream uploads"}
		}
		entry, err := s.store(s.resolve(query.Get("path"), user), user, metadata, body)
		if err != nil {
			return nil, err
		}
		return []uploaded{entry}, nil
	case "multipart/form-data":
		return s.receiveForm(multipart.NewReader(body, params["boundary"]), query.Get("path"), user, metadata)
	}
	return nil, &statusError{http.StatusBadRequest, "unsupported content type: " + r.Header.Get("Content-Type")}
}

func (s *Server) receiveForm(form *multipart.Reader, name string, user jail.User, metadata map[string]string) ([]uploaded, error) {
	entries := []uploaded{}
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return nil, &statusError{http.StatusBadRequest, "error reading the form: " + err.Error()}
		}
		// Part.FileName would drop the directories of the name.
		_, disposition, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if err != nil || disposition["name"] != "file" {
			continue
		}
		target := name
		if target == "" {
			target = disposition["filename"]
		}
		if target == "" {
			return nil, &statusError{http.StatusBadRequest, "file without a name"}
		}
		entry, err := s.store(s.resolve(target, user), user, metadata, part)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
}

// store writes one file. A new one gets mode 0644, an old one keeps its own, and
// either belongs to user afterwards.
func (s *Server) store(name string, user jail.User, metadata map[string]string, body io.Reader) (uploaded, error) {
	var file *os.File
	var err error
	doErr := s.cfg.Jail.Do(func() {
		info, statErr := os.Stat(name)
		switch {
		case statErr == nil && info.IsDir():
			err = &statusError{http.StatusBadRequest, "path is a directory: " + name}
			return
		case statErr == nil && !info.Mode().IsRegular():
			err = &statusError{http.StatusBadRequest, "path is not a regular file: " + name}
			return
		}
		if err = makeDirs(path.Dir(name), user); err != nil {
			return
		}
		if file, err = os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644); err == nil {
			err = jail.Chown(name, user.UID, user.GID)
		}
	})
	if doErr != nil {
		err = doErr
	}
	if err != nil {
		if file != nil {
			file.Close()
		}
		return uploaded{}, err
	}
	_, err = io.Copy(file, body)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return uploaded{}, fmt.Errorf("error writing file: %w", err)
	}
	entry := uploaded{Name: path.Base(name), Path: name, Type: "file"}
	if len(metadata) > 0 {
		entry.Metadata = metadata
		s.cfg.Jail.Do(func() {
			for key, value := range metadata {
				if err == nil {
					err = jail.SetMetadata(name, key, value)
				}
			}
		})
	}
	return entry, err
}
