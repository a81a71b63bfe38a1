//go:build !remotebox_runner

package daytona

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// signer signs requests to an object storage with AWS Signature Version 4, as
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html describes it.
type signer struct {
	accessKey, secret, session string
	region                     string
}

const service = "s3"

// emptySum is the SHA-256 of nothing.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign returns the headers that authorize a request, among them those that are given. sum is the
// SHA-256 of its body in hex.
func (s *signer) sign(method string, u *url.URL, header http.Header, sum string, now time.Time) http.Header {
	stamp := now.UTC().Format("20060102T150405Z")
	signed := header.Clone()
	if signed == nil {
		signed = http.Header{}
	}
	signed.Set("X-Amz-Content-Sha256", sum)
	signed.Set("X-Amz-Date", stamp)
	if s.session != "" {
		signed.Set("X-Amz-Security-Token", s.session)
	}
	values := map[string]string{"host": u.Host}
	for name, v := range signed {
		values[strings.ToLower(name)] = strings.Join(strings.Fields(strings.Join(v, ",")), " ")
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	var lines strings.Builder
	for _, name := range names {
		lines.WriteString(name + ":" + values[name] + "\n")
	}
	list := strings.Join(names, ";")
	request := strings.Join([]string{method, awsEscape(u.Path, true), canonicalQuery(u), lines.String(), list, sum}, "\n")
	scope := strings.Join([]string{stamp[:8], s.region, service, "aws4_request"}, "/")
	digest := sha256.Sum256([]byte(request))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", stamp, scope, hex.EncodeToString(digest[:])}, "\n")
	key := []byte("AWS4" + s.secret)
	for _, part := range []string{stamp[:8], s.region, service, "aws4_request", text} {
		key = mac(key, part)
	}
	signed.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+s.accessKey+"/"+scope+",SignedHeaders="+list+",Signature="+hex.EncodeToString(key))
	return signed
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func canonicalQuery(u *url.URL) string {
	var pairs []string
	for name, values := range u.Query() {
		for _, v := range values {
			pairs = append(pairs, awsEscape(name, false)+"="+awsEscape(v, false))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// awsEscape escapes everything but A-Z, a-z, 0-9 and -._~, and slashes where they stay.
func awsEscape(text string, slash bool) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0, c == '/' && slash:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	return b.String()
}
