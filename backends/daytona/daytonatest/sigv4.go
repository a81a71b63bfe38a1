//go:build !remotebox_runner

package daytonatest

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// credentials are temporary: session must come with each request.
type credentials struct{ accessKey, secret, session string }

// verify checks a request's signature (AWS Signature Version 4) and returns its body, which fails at its end when it is not what
// was signed.
func (b *bucket) verify(r *http.Request) (io.Reader, error) {
	denied := func(code, message string) (io.Reader, error) { return nil, &s3Error{403, code, message} }
	auth, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return denied("AccessDenied", "Access Denied")
	}
	fields := map[string]string{}
	for part := range strings.SplitSeq(auth, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[k] = v
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[3] != "s3" || scope[4] != "aws4_request" {
		return denied("AuthorizationHeaderMalformed", "The authorization header is malformed")
	}
	if scope[0] != b.creds.accessKey {
		return denied("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
	}
	if r.Header.Get("X-Amz-Security-Token") != b.creds.session {
		return denied("InvalidToken", "The provided token is malformed or otherwise invalid.")
	}
	date := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", date)
	if err != nil || scope[1] != date[:8] {
		return denied("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header")
	}
	if d := time.Since(at); d > 15*time.Minute || d < -15*time.Minute {
		return denied("RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	for _, must := range []string{"host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"} {
		if !slices.Contains(signed, must) {
			return denied("AccessDenied", "There were headers present in the request which were not signed: "+must)
		}
	}
	if want := signature(r, signed, scope, b.creds.secret); !hmac.Equal([]byte(want), []byte(fields["Signature"])) {
		return denied("SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided. Check your key and signing method.")
	}
	switch payload := r.Header.Get("X-Amz-Content-Sha256"); {
	case payload == "UNSIGNED-PAYLOAD":
		return r.Body, nil
	case strings.HasPrefix(payload, "STREAMING-"):
		return &awsChunked{r: bufio.NewReader(r.Body)}, nil
	default:
		return &signedBody{r: r.Body, sum: sha256.New(), want: payload}, nil
	}
}

// signature is what r has to be signed with; scope is key, day, region, service and "aws4_request".
func signature(r *http.Request, signed, scope []string, secret string) string {
	sum := sha256.Sum256([]byte(canonicalRequest(r, signed)))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + secret)
	for _, part := range scope[1:] {
		key = mac(key, part)
	}
	return hex.EncodeToString(mac(key, text))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func canonicalRequest(r *http.Request, signed []string) string {
	var query []string
	for k, values := range r.URL.Query() {
		for _, v := range values {
			query = append(query, awsEscape(k, "")+"="+awsEscape(v, ""))
		}
	}
	slices.Sort(query)
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		headers.WriteString(name + ":" + strings.Join(strings.Fields(value), " ") + "\n")
	}
	return strings.Join([]string{
		r.Method, awsEscape(r.URL.Path, "/"), strings.Join(query, "&"), headers.String(), strings.Join(signed, ";"), r.Header.Get("X-Amz-Content-Sha256"),
	}, "\n")
}

// awsEscape percent-encodes everything but unreserved characters and those in keep.
func awsEscape(text, keep string) string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	var out strings.Builder
	for _, c := range []byte(text) {
		if strings.IndexByte(unreserved, c) >= 0 || strings.IndexByte(keep, c) >= 0 {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}

// signedBody fails at its end when its hash is another than was signed.
type signedBody struct {
	r    io.Reader
	sum  hash.Hash
	want string
}

func (b *signedBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.sum.Write(p[:n])
	if err == io.EOF && hex.EncodeToString(b.sum.Sum(nil)) != b.want {
		return n, &s3Error{400, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match what was computed."}
	}
	return n, err
}

// awsChunked decodes the aws-chunked encoding: "size[;signature]\r\n data \r\n", until a size of 0; trailers are skipped.
type awsChunked struct {
	r    *bufio.Reader
	left int64
	done bool
}

func (c *awsChunked) Read(p []byte) (int, error) {
	for c.left == 0 {
		if c.done {
			return 0, io.EOF
		}
		line, err := c.r.ReadString('\n')
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		size, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ";")
		if size == "" {
			continue // the end of the chunk before
		}
		if c.left, err = strconv.ParseInt(size, 16, 64); err != nil {
			return 0, &s3Error{400, "InvalidChunkSizeError", "Only the last chunk is allowed to have a size less than 8192 bytes"}
		}
		if c.left == 0 {
			c.done = true
			_, _ = io.Copy(io.Discard, c.r)
			return 0, io.EOF
		}
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
