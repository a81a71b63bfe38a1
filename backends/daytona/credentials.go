//go:build !remotebox_runner

package daytona

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/remote-box/remote"
)

const defaultAPIURL = "https://app.daytona.io/api"

// credentials are where the API is and who is asking.
type credentials struct {
	url    string // without a slash at its end
	target string
	token  string // a key or a JWT
	org    string // with a JWT
	// refused is the error of a token that is not accepted, without its reason.
	refused remote.CredentialError
}

// keyFile is where a key is looked for last.
func keyFile() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return filepath.Join("~", ".config", "daytona", "api_key")
	}
	return filepath.Join(home, ".config", "daytona", "api_key")
}

// credentials finds the API and a token. Fields come before variables, and those before the file;
// a key comes before a JWT.
func (b Backend) credentials() (*credentials, error) {
	c := &credentials{target: b.region()}
	var err error
	// DAYTONA_SERVER_URL is the variable's older name.
	c.url, err = checkURL(cmp.Or(b.APIURL, os.Getenv("DAYTONA_API_URL"), os.Getenv("DAYTONA_SERVER_URL"), defaultAPIURL))
	if err != nil {
		return nil, fmt.Errorf("daytona: APIURL: %w", err)
	}
	c.refused = remote.CredentialError{Backend: Name, Field: "daytona.Backend.APIKey", Variable: "DAYTONA_API_KEY", File: keyFile()}
	jwt := remote.CredentialError{Backend: Name, Field: "daytona.Backend.JWTToken", Variable: "DAYTONA_JWT_TOKEN", File: keyFile()}
	c.org = cmp.Or(b.OrganizationID, os.Getenv("DAYTONA_ORGANIZATION_ID"))
	switch {
	case b.APIKey != "":
		c.token, c.org = string(b.APIKey), ""
	case b.JWTToken != "":
		c.token, c.refused = string(b.JWTToken), jwt
	case os.Getenv("DAYTONA_API_KEY") != "":
		c.token, c.org = os.Getenv("DAYTONA_API_KEY"), ""
	case os.Getenv("DAYTONA_JWT_TOKEN") != "":
		c.token, c.refused = os.Getenv("DAYTONA_JWT_TOKEN"), jwt
	default:
		c.org = ""
		if c.token, err = readKey(c.refused); err != nil {
			return nil, err
		}
	}
	if c.refused.Field == jwt.Field && c.org == "" {
		return nil, &remote.CredentialError{Backend: Name, Field: "daytona.Backend.OrganizationID", Variable: "DAYTONA_ORGANIZATION_ID", File: keyFile(), Reason: "incomplete: a JWT needs the organization that it is for"}
	}
	if strings.ContainsFunc(c.token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		refused := c.refused
		refused.Reason = "malformed: it holds characters that no key has"
		return nil, &refused
	}
	return c, nil
}

// readKey reads the key file.
func readKey(missing remote.CredentialError) (string, error) {
	data, err := os.ReadFile(missing.File)
	missing.Reason = "missing"
	if _, set := os.LookupEnv(missing.Variable); set {
		missing.Reason = "empty"
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &missing
	case err != nil:
		missing.Reason = "unreadable (" + errors.Unwrap(err).Error() + ")"
		return "", &missing
	}
	key := strings.TrimSpace(string(data))
	if key == "" {
		missing.Reason = "empty"
		return "", &missing
	}
	return key, nil
}

// checkURL refuses URLs to which no key should be sent.
func checkURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return "", errors.New("it is no URL of a server")
	}
	switch u.Scheme {
	case "https":
	case "http":
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return "", fmt.Errorf("%s://%s: a key is sent over plain HTTP only to this host", u.Scheme, u.Host)
		}
	default:
		return "", fmt.Errorf("%s: neither https nor http", u.Scheme)
	}
	return strings.TrimRight(u.String(), "/"), nil
}
