//go:build !remotebox_runner

package envd

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
)

// compose is POST /files/compose: it joins files that were uploaded in parts and
// removes the parts.
func (s *Server) compose(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Sources     []string `json:"source_paths"`
		Destination string   `json:"destination"`
		Username    string   `json:"username"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&request); err != nil {
		writeError(w, http.StatusBadRequest, "invalid request body: "+err.Error())
		return
	}
	if len(request.Sources) == 0 || request.Destination == "" {
		writeError(w, http.StatusBadRequest, "source_paths and destination are required")
		return
	}
	user, err := s.user(request.Username)
	if err != nil {
		writeError(w, http.StatusUnauthorized, err.Error())
		return
	}
	var parts []io.Reader
	var names []string
	for _, source := range request.Sources {
		name := s.resolve(source, user)
		var file *os.File
		if doErr := s.cfg.Jail.Do(func() { file, err = os.Open(name) }); doErr != nil {
			err = doErr
		}
		if errors.Is(err, fs.ErrNotExist) {
			writeError(w, http.StatusNotFound, "source path '"+name+"' does not exist")
			return
		}
		if err != nil {
			writeError(w, http.StatusInternalServerError, err.Error())
			return
		}
		defer file.Close()
		parts, names = append(parts, file), append(names, name)
	}
	entry, err := s.store(s.resolve(request.Destination, user), user, nil, io.MultiReader(parts...))
	if err != nil {
		status := http.StatusInternalServerError
		var coded *statusError
		if errors.As(err, &coded) {
			status = coded.status
		}
		writeError(w, status, err.Error())
		return
	}
	s.cfg.Jail.Do(func() {
		for _, name := range names {
			if name != entry.Path {
				os.Remove(name)
			}
		}
	})
	writeJSON(w, http.StatusOK, entry)
}
