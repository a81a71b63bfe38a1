//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// preview is a way to one port of a sandbox from outside.
type preview struct {
	sandbox string
	port    string
	expires time.Time // zero: with the sandbox
}

// previewOf checks a request for a preview. s.mu is held.
func (s *Server) previewOf(r *http.Request) (*sandbox, string, error) {
	sb, err := s.find(r.PathValue("s"))
	if err != nil {
		return nil, "", err
	}
	port := r.PathValue("port")
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return nil, "", fail(400, "Invalid port")
	}
	return sb, port, nil
}

func (s *Server) getPreview(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, port, err := s.previewOf(r)
	if err != nil {
		return 0, nil, err
	}
	name, token := port+"-"+sb.id, ""
	for t, p := range s.previews {
		if p.sandbox == sb.id && p.port == port && p.expires.IsZero() {
			token = t
		}
	}
	if token == "" {
		token = randomHex(16)
		s.previews[token] = preview{sandbox: sb.id, port: port}
	}
	return 200, map[string]any{"sandboxId": sb.id, "url": s.apiURL + "/preview/" + name + "/", "token": token}, nil
}

func (s *Server) getSignedPreview(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	seconds, err := queryInt(r.URL.Query(), "expiresInSeconds", 60, 1, 24*60*60)
	if err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, port, err := s.previewOf(r)
	if err != nil {
		return 0, nil, err
	}
	token := randomHex(16)
	s.previews[token] = preview{sandbox: sb.id, port: port, expires: time.Now().Add(time.Duration(seconds) * time.Second)}
	n, _ := strconv.Atoi(port)
	return 200, map[string]any{"sandboxId": sb.id, "port": n, "token": token, "url": s.apiURL + "/preview/" + port + "-" + token + "/"}, nil
}

func (s *Server) expirePreview(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, _, err := s.previewOf(r); err != nil {
		return 0, nil, err
	}
	delete(s.previews, r.PathValue("token"))
	return 200, nil, nil
}

// servePreview serves /preview/{port}-{sandbox id or signed token}/…, the stand-in for a host name of that form.
func (s *Server) servePreview(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("token")
	port, key, _ := strings.Cut(name, "-")
	s.mu.Lock()
	p, signed := s.previews[key]
	if !signed {
		token := r.Header.Get("X-Daytona-Preview-Token")
		if token == "" {
			token = r.URL.Query().Get("DAYTONA_SANDBOX_AUTH_KEY")
		}
		p = s.previews[token]
	}
	id := p.sandbox
	if !signed {
		id = key
	}
	sb, err := s.find(id)
	allowed := err == nil && sb.id == id && (sb.public || s.authorized(r) || p.sandbox == id && p.port == port)
	if signed && (p.port != port || !p.expires.IsZero() && time.Now().After(p.expires)) {
		allowed = false
	}
	s.mu.Unlock()
	if !allowed {
		s.writeProxyError(w, r, 401, "authentication failed: Bearer token is invalid")
		return
	}
	r.Header.Del("X-Daytona-Preview-Token")
	if s.authorized(r) {
		r.Header.Del("Authorization") // ours; any other is for the server inside
	}
	rest := strings.TrimPrefix(r.URL.Path, "/preview/"+name)
	r.URL.Path, r.URL.RawPath = "/proxy/"+port+rest, ""
	s.forward(w, r, sb)
}
