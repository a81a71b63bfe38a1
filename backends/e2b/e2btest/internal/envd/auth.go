//go:build !remotebox_runner

package envd

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"
)

const unauthorized = "unauthorized access, please provide a valid access token or method signing if supported"

// authorized checks the access token, or the signature of a file URL, and
// answers the request itself when they are wrong. The answer is plain HTTP for
// RPCs too (envd spec).
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	token := s.cfg.AccessToken
	if token == "" || r.URL.Path == "/health" && r.Method == http.MethodGet {
		return true
	}
	given := r.Header.Get("X-Access-Token")
	signable := r.URL.Path == "/files" && (r.Method == http.MethodGet || r.Method == http.MethodPost)
	switch {
	case given == token:
		return true
	case signable && given == "":
		if message := s.checkSignature(r, token); message != "" {
			writeError(w, http.StatusUnauthorized, message)
			return false
		}
		return true
	default:
		writeError(w, http.StatusUnauthorized, unauthorized)
		return false
	}
}

// checkSignature returns what is wrong with the signature of a file URL.
func (s *Server) checkSignature(r *http.Request, token string) string {
	query := r.URL.Query()
	signature, expiration := query.Get("signature"), query.Get("signature_expiration")
	if signature == "" {
		return "missing signature query parameter"
	}
	operation := "read"
	if r.Method == http.MethodPost {
		operation = "write"
	}
	text := query.Get("path") + ":" + operation + ":" + query.Get("username") + ":" + token
	if expiration != "" {
		text += ":" + expiration
	}
	sum := sha256.Sum256([]byte(text))
	if signature != "v1_"+base64.RawStdEncoding.EncodeToString(sum[:]) {
		return "invalid signature"
	}
	if expiration != "" {
		seconds, err := strconv.ParseInt(expiration, 10, 64)
		if err != nil || time.Now().Unix() > seconds {
			return "signature is already expired"
		}
	}
	return ""
}
