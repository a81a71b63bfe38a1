//go:build unix && !remotebox_runner

package daytonatest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// s3 sends a signed request. edit may spoil it after it was signed, and creds before.
func (c *client) s3(method, path string, data []byte, creds credentials, edit func(*http.Request)) answer {
	c.t.Helper()
	b := c.srv.bucket
	req, err := http.NewRequestWithContext(c.ctx, method, b.url+"/"+b.name+path, bytes.NewReader(data))
	if err != nil {
		c.t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	date := time.Now().UTC().Format("20060102T150405Z")
	req.Header.Set("X-Amz-Date", date)
	req.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	req.Header.Set("X-Amz-Security-Token", creds.session)
	signed := []string{"host", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"}
	scope := []string{creds.accessKey, date[:8], b.region, "s3", "aws4_request"}
	req.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s, SignedHeaders=%s, Signature=%s",
		strings.Join(scope, "/"), strings.Join(signed, ";"), signature(req, signed, scope, creds.secret)))
	if edit != nil {
		edit(req)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	var body bytes.Buffer
	_, err = body.ReadFrom(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: body.Bytes(), err: err}
}

// put uploads a build context.
func (c *client) put(hash string, data []byte) {
	c.t.Helper()
	c.is(c.s3("PUT", "/"+c.srv.orgID+"/"+hash+"/context.tar?x-id=PutObject", data, c.srv.bucket.creds, nil), 200)
}

// The example of the S3 manual: "GET Object" with its key, date and signature.
func TestSignatureOfTheManual(t *testing.T) {
	req, err := http.NewRequest("GET", "https://examplebucket.s3.amazonaws.com/test.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Range", "bytes=0-9")
	req.Header.Set("X-Amz-Date", "20130524T000000Z")
	req.Header.Set("X-Amz-Content-Sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
	scope := []string{"AKIAIOSFODNN7EXAMPLE", "20130524", "us-east-1", "s3", "aws4_request"}
	got := signature(req, []string{"host", "range", "x-amz-content-sha256", "x-amz-date"}, scope, "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
	if want := "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"; got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
}

func TestStorage(t *testing.T) {
	c := newClient(t, Config{})
	b := c.srv.bucket
	access := c.object(c.is(c.api("GET", "/object-storage/push-access", nil), 200))
	for _, field := range []string{"accessKey", "secret", "sessionToken", "storageUrl", "organizationId", "bucket", "region"} {
		if access[field] == "" || access[field] == nil {
			t.Errorf("push access lacks %s", field)
		}
	}
	list := "/?list-type=2&max-keys=1&prefix=" + c.srv.orgID + "%2Fh%2F"
	c.is(c.s3("GET", list, nil, b.creds, nil), 200, "<KeyCount>0</KeyCount>")
	c.put("h", []byte("one"))
	c.put("h", []byte("two")) // a second one overwrites
	c.is(c.s3("GET", list, nil, b.creds, nil), 200, "<KeyCount>1</KeyCount>", c.srv.orgID+"/h/context.tar")
	c.is(c.s3("GET", "/"+c.srv.orgID+"/h/context.tar", nil, b.creds, nil), 200, "two")
	c.is(c.s3("GET", "/"+c.srv.orgID+"/none", nil, b.creds, nil), 404, "NoSuchKey")
	if got := c.srv.Objects(); len(got) != 1 {
		t.Errorf("objects %v", got)
	}
	wrongKey, wrongSecret, wrongToken := b.creds, b.creds, b.creds
	wrongKey.accessKey, wrongSecret.secret, wrongToken.session = "x", "x", "x"
	own := "/" + c.srv.orgID + "/k/context.tar"
	for _, tt := range []struct {
		name, path string
		creds      credentials
		edit       func(*http.Request)
		status     int
		code       string
	}{
		{"key", own, wrongKey, nil, 403, "InvalidAccessKeyId"},
		{"secret", own, wrongSecret, nil, 403, "SignatureDoesNotMatch"},
		{"token", own, wrongToken, nil, 403, "InvalidToken"},
		{"another organization", "/other/k/context.tar", b.creds, nil, 403, "AccessDenied"},
		{"another path than signed", own, b.creds, func(r *http.Request) { r.URL.Path += "x" }, 403, "SignatureDoesNotMatch"},
		{"another query than signed", own, b.creds, func(r *http.Request) { r.URL.RawQuery = "a=1" }, 403, "SignatureDoesNotMatch"},
		{"no signature", own, b.creds, func(r *http.Request) { r.Header.Del("Authorization") }, 403, "AccessDenied"},
		{"yesterday", own, b.creds, func(r *http.Request) { r.Header.Set("X-Amz-Date", "20200101T000000Z") }, 403, "AccessDenied"},
		{"token not signed", own, b.creds, func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), ";x-amz-security-token", "", 1))
		}, 403, "AccessDenied"},
		{"another body than signed", own, b.creds, func(r *http.Request) {
			r.Body, r.ContentLength, r.GetBody = http.NoBody, 0, nil
		}, 400, "XAmzContentSHA256Mismatch"},
	} {
		a := c.s3("PUT", tt.path, []byte("data"), tt.creds, tt.edit)
		if a.status != tt.status || !strings.Contains(string(a.body), tt.code) {
			t.Errorf("%s: %d %s, want %d %s", tt.name, a.status, a.body, tt.status, tt.code)
		}
	}
	if got := c.srv.Objects(); len(got) != 1 {
		t.Errorf("a refused upload left an object: %v", got)
	}
}

func TestNoStorage(t *testing.T) {
	c := newClient(t, Config{NoStorage: true})
	c.is(c.api("GET", "/object-storage/push-access", nil), 503)
}

// Clients that stream encode the body in chunks, with a checksum after it.
func TestAWSChunked(t *testing.T) {
	const sig = ";chunk-signature=0123"
	for encoded, want := range map[string]string{
		"5\r\nhello\r\n6\r\n world\r\n0\r\nx-amz-checksum-crc32:AAAA\r\n\r\n": "hello world",
		"5" + sig + "\r\nhello\r\n0" + sig + "\r\n\r\n":                       "hello",
		"0\r\n\r\n":         "",
		"5\r\nhel":          "error",
		"zz\r\nhello\r\n":   "error",
		"5\r\nhello\r\n":    "error", // it does not end
		"ffffffffff\r\nhel": "error",
	} {
		got, err := io.ReadAll(&awsChunked{r: bufio.NewReader(iotest.OneByteReader(strings.NewReader(encoded)))})
		if err != nil {
			got = []byte("error")
		}
		if string(got) != want {
			t.Errorf("%q: %q (%v), want %q", encoded, got, err, want)
		}
	}
}

func TestMultipart(t *testing.T) {
	c := newClient(t, Config{})
	b := c.srv.bucket
	key := "/" + c.srv.orgID + "/m/context.tar"
	start := func() string {
		t.Helper()
		a := c.is(c.s3("POST", key+"?uploads", nil, b.creds, nil), 200)
		_, rest, _ := strings.Cut(string(a.body), "<UploadId>")
		id, _, _ := strings.Cut(rest, "<")
		return id
	}
	id := start()
	c.is(c.s3("PUT", key+"?partNumber=2&uploadId="+id, []byte("two"), b.creds, nil), 200)
	c.is(c.s3("POST", key+"?uploadId="+id, []byte("<x/>"), b.creds, nil), 400, "InvalidPart")
	c.is(c.s3("PUT", key+"?partNumber=1&uploadId="+id, []byte("one"), b.creds, nil), 200)
	c.is(c.s3("PUT", key+"?partNumber=0&uploadId="+id, []byte("no"), b.creds, nil), 400, "InvalidArgument")
	c.is(c.s3("POST", key+"?uploadId="+id, []byte("<x/>"), b.creds, nil), 200, "CompleteMultipartUploadResult")
	c.is(c.s3("GET", key, nil, b.creds, nil), 200, "onetwo")
	c.is(c.s3("POST", key+"?uploadId="+id, nil, b.creds, nil), 404, "NoSuchUpload")
	id = start()
	c.is(c.s3("DELETE", key+"?uploadId="+id, nil, b.creds, nil), 204)
	c.is(c.s3("PUT", key+"?partNumber=1&uploadId="+id, []byte("late"), b.creds, nil), 404, "NoSuchUpload")
}
