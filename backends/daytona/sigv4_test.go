package daytona

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestSigV4 signs the examples of
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
func TestSigV4(t *testing.T) {
	s := signer{accessKey: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region: "us-east-1"}
	now := time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, method, url, sum, signature string
		header                            http.Header
	}{
		{"get object", "GET", "https://examplebucket.s3.amazonaws.com/test.txt", emptySum, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41", http.Header{"Range": {"bytes=0-9"}}},
		{"put object", "PUT", "https://examplebucket.s3.amazonaws.com/test%24file.text", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd", http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"}, "X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}}},
		{"get bucket lifecycle", "GET", "https://examplebucket.s3.amazonaws.com/?lifecycle", emptySum, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543", nil},
		{"list objects", "GET", "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", emptySum, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := url.Parse(c.url)
			if err != nil {
				t.Fatal(err)
			}
			got := s.sign(c.method, u, c.header, c.sum, now).Get("Authorization")
			if !strings.HasSuffix(got, "Signature="+c.signature) {
				t.Errorf("signed %s, want the signature %s", got, c.signature)
			}
		})
	}
	with := s
	with.session = "token"
	u := &url.URL{Scheme: "https", Host: "h", Path: "/"}
	h := with.sign("GET", u, nil, emptySum, now)
	if h.Get("X-Amz-Security-Token") != "token" || !strings.Contains(h.Get("Authorization"), "x-amz-security-token") {
		t.Errorf("the session token is not signed: %v", h)
	}
}
