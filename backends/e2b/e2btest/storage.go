//go:build !remotebox_runner

package e2btest

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// storage is the bucket that build contexts are uploaded to.
type storage struct {
	mu    sync.Mutex
	dir   string
	links map[string]link // by token
}

type link struct {
	hash    string
	expires time.Time
	headers map[string]string // that the upload must carry
}

func (st *storage) open(dir string) {
	st.dir, st.links = dir, make(map[string]link)
}

func (st *storage) path(hash string) string { return filepath.Join(st.dir, hash) }

func (st *storage) has(hash string) bool {
	_, err := os.Stat(st.path(hash))
	return err == nil
}

// fileLink gives out an upload link, also for what is there already.
func (s *Server) fileLink(r *http.Request) (answer, error) {
	hash := r.PathValue("hash")
	if len(hash) != 64 || !onlyOf(hash, "0123456789abcdef") {
		return answer{}, fail(http.StatusBadRequest, "Invalid files hash")
	}
	if s.findTemplate(r.PathValue("id")) == nil {
		return answer{}, fail(http.StatusNotFound, "Template '%s' not found", r.PathValue("id"))
	}
	l := link{hash: hash, expires: time.Now().Add(30 * time.Minute)}
	body := map[string]any{"present": s.storage.has(hash)}
	if !s.cfg.OldServer {
		l.headers = map[string]string{"x-ms-blob-type": "BlockBlob"}
		body["headers"] = l.headers
	}
	token := randomHex(16)
	s.storage.mu.Lock()
	s.storage.links[token] = l
	s.storage.mu.Unlock()
	body["url"] = s.APIURL() + "/storage/" + token
	return answer{status: http.StatusCreated, body: body}, nil
}

// put is the upload, with the manners of S3 and of Google's storage: no key of E2B's, a length, and no
// Content-Type but the one that the link was signed for, which is none if it does not say so.
func (st *storage) put(w http.ResponseWriter, r *http.Request) {
	st.mu.Lock()
	l, ok := st.links[r.PathValue("token")]
	st.mu.Unlock()
	refuse := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>`+code+`</Code></Error>`)
	}
	switch {
	case !ok || time.Now().After(l.expires):
		refuse(http.StatusForbidden, "AccessDenied")
		return
	case r.ContentLength < 0:
		refuse(http.StatusNotImplemented, "NotImplemented")
		return
	case r.Header.Get("Content-Type") != l.headers["Content-Type"]:
		refuse(http.StatusForbidden, "SignatureDoesNotMatch")
		return
	}
	for name, value := range l.headers {
		if r.Header.Get(name) != value {
			refuse(http.StatusBadRequest, "MissingRequiredHeader")
			return
		}
	}
	if err := st.write(l.hash, r.Body); err != nil {
		refuse(http.StatusInternalServerError, "InternalError")
		return
	}
	w.WriteHeader(http.StatusOK)
}

// write keeps an upload once it is complete.
func (st *storage) write(hash string, body io.Reader) error {
	file, err := os.CreateTemp(st.dir, "part-")
	if err != nil {
		return err
	}
	_, err = io.Copy(file, body)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(file.Name(), st.path(hash))
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}
