//go:build !remotebox_runner

package envd

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"strings"
)

// download is GET /files. Ranges, types and conditions are those of
// http.ServeContent, which envd uses as well.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	user, err := s.user(query.Get("username"))
	if err != nil {
		writeError(w, http.StatusUnauthorized, err.Error())
		return
	}
	path := s.resolve(query.Get("path"), user)
	var file *os.File
	var info os.FileInfo
	doErr := s.cfg.Jail.Do(func() {
		// Looked at before it is opened: opening a FIFO could wait for ever.
		if info, err = os.Stat(path); err == nil && info.Mode().IsRegular() {
			file, err = os.Open(path)
		}
	})
	switch {
	case doErr != nil:
		writeError(w, http.StatusInternalServerError, doErr.Error())
		return
	case errors.Is(err, fs.ErrNotExist):
		writeError(w, http.StatusNotFound, fmt.Sprintf("path '%s' does not exist", path))
		return
	case err != nil:
		writeError(w, http.StatusInternalServerError, err.Error())
		return
	case info.IsDir():
		writeError(w, http.StatusBadRequest, fmt.Sprintf("path '%s' is a directory", path))
		return
	case file == nil:
		writeError(w, http.StatusBadRequest, fmt.Sprintf("path '%s' is not a regular file", path))
		return
	}
	defer file.Close()
	w.Header().Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": info.Name()}))
	w.Header().Set("Vary", "Accept-Encoding")
	if r.Header.Get("Range") != "" || !acceptsGzip(r.Header.Get("Accept-Encoding")) {
		http.ServeContent(w, r, info.Name(), info.ModTime(), file)
		return
	}
	if kind := mime.TypeByExtension(info.Name()[max(0, strings.LastIndexByte(info.Name(), '.')):]); kind != "" {
		w.Header().Set("Content-Type", kind)
	} else {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Last-Modified", info.ModTime().UTC().Format(http.TimeFormat))
	packer := gzip.NewWriter(w)
	if _, err := io.Copy(packer, file); err != nil {
		panic(http.ErrAbortHandler) // the client must not take a part for the whole
	}
	packer.Close()
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(coding) == "gzip" {
			return strings.ReplaceAll(strings.TrimSpace(quality), " ", "") != "q=0"
		}
	}
	return false
}
