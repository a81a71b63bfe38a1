//go:build !remotebox_runner

package e2b

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
)

// HTTPClient is a client of package net/http.
type HTTPClient = *http.Client

// keyFile is where a key may be kept, below the home directory.
const keyFile = ".config/e2b/api_key"

const (
	defaultTTL    = 10 * time.Minute
	maxTTL        = 24 * time.Hour
	defaultDomain = "e2b.app"
	defaultPrefix = "remote-box"
	defaultBase   = "e2bdev/base"
)

// config is a Backend with everything that it leaves open filled in.
type config struct {
	Backend
	debug bool // no control plane: one envd, on this host
	log   *buildLog

	mu  sync.Mutex
	api *httpapi.Client // set by dial
}

func (b Backend) config() (*config, error) {
	c, err := b.keyless()
	if err != nil {
		return nil, err
	}
	return c, c.dial()
}

// keyless is config for what asks E2B for nothing: an image's name needs no key.
func (b Backend) keyless() (*config, error) {
	c := &config{Backend: b, debug: strings.EqualFold(os.Getenv("E2B_DEBUG"), "true")}
	c.TemplatePrefix = strings.ToLower(cmp.Or(b.TemplatePrefix, defaultPrefix))
	c.CPUs, c.MemoryMB = cmp.Or(b.CPUs, 1), cmp.Or(b.MemoryMB, 1024)
	c.TTL = cmp.Or(b.TTL, defaultTTL)
	c.Domain = cmp.Or(b.Domain, os.Getenv("E2B_DOMAIN"))
	c.SandboxURL = cmp.Or(b.SandboxURL, os.Getenv("E2B_SANDBOX_URL"))
	c.APIURL = cmp.Or(b.APIURL, os.Getenv("E2B_API_URL"))
	if c.APIURL == "" {
		c.APIURL = "https://api." + cmp.Or(c.Domain, defaultDomain)
		if c.debug {
			c.APIURL = "http://localhost:3000"
		}
	}
	if c.SandboxURL == "" && c.debug {
		c.SandboxURL = "http://localhost:49983"
	}
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{}
	}
	c.log = newBuildLog(b.BuildLog)
	return c, c.check()
}

// dial finds the key and makes the client, unless that has been done.
func (c *config) dial() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.api != nil {
		return nil
	}
	key, err := c.key()
	if err != nil {
		return err
	}
	if strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		bad := c.credential()
		bad.Reason = "malformed (it holds a space, a line break or another character that no key has)"
		return &bad
	}
	c.api = &httpapi.Client{
		Base: strings.TrimRight(c.APIURL, "/"), HTTP: c.HTTPClient,
		Header:     http.Header{"X-Api-Key": {string(key)}, "User-Agent": {userAgent}},
		Credential: c.credential(), Secrets: append(c.secrets(), string(key)),
	}
	return nil
}

// userAgent names no SDK: E2B gives old ones other template builds (E2B API, start build v2).
const userAgent = "remote-box"

// key finds the key. None is an error, never another backend.
func (c *config) key() (Secret, error) {
	if c.APIKey != "" {
		return c.APIKey, nil
	}
	if v := strings.TrimSpace(os.Getenv("E2B_API_KEY")); v != "" {
		return Secret(v), nil
	}
	missing := c.credential()
	missing.Reason = "missing"
	if _, set := os.LookupEnv("E2B_API_KEY"); set {
		missing.Reason = "empty"
	}
	if home, err := os.UserHomeDir(); err == nil {
		b, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(keyFile)))
		if v := strings.TrimSpace(string(b)); v != "" && err == nil {
			return Secret(v), nil
		} else if err == nil {
			missing.Reason = "empty"
		} else if !errors.Is(err, fs.ErrNotExist) {
			missing.Reason = "unreadable (" + err.Error() + ")"
		}
	}
	if c.debug {
		return "", nil // nobody asks for it
	}
	return "", &missing
}

func (c *config) credential() remote.CredentialError {
	return remote.CredentialError{Backend: name, Field: "e2b.Backend.APIKey", Variable: "E2B_API_KEY", File: "~/" + keyFile}
}

// secrets are the texts that no error may show, besides the key.
func (c *config) secrets() []string {
	list := []string{
		string(c.APIKey), string(c.Registry.Password), string(c.Registry.AWSSecretAccessKey), string(c.Registry.GCPServiceAccount),
	}
	for _, r := range c.Network.Rules {
		for _, v := range r.Headers {
			list = append(list, string(v))
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}

// check finds what no request should be made with. What depends on the account, such as the number
// of processors, is E2B's to refuse.
func (c *config) check() error {
	switch {
	case !validTemplate(c.TemplatePrefix) || strings.Contains(c.TemplatePrefix, ":"):
		return fmt.Errorf("e2b.Backend.TemplatePrefix %q: use lower-case letters, digits, \"-\" and \"_\"", c.TemplatePrefix)
	case len(c.TemplatePrefix) > 100:
		return fmt.Errorf("e2b.Backend.TemplatePrefix %q is too long: 100 characters are left beside the digest", c.TemplatePrefix)
	case c.Template != "" && !validTemplate(c.Template):
		return fmt.Errorf("e2b.Backend.Template %q is no name of a template", c.Template)
	case c.CPUs < 1 || c.CPUs != 1 && c.CPUs%2 != 0 || c.CPUs > 32:
		return fmt.Errorf("e2b.Backend.CPUs is %d; E2B has sandboxes with 1 or an even number, up to 32", c.CPUs)
	case c.MemoryMB < 128 || c.MemoryMB%2 != 0:
		return fmt.Errorf("e2b.Backend.MemoryMB is %d; it must be even, and at least 128", c.MemoryMB)
	case c.TTL < time.Second:
		return fmt.Errorf("e2b.Backend.TTL is %v; E2B counts in seconds", c.TTL)
	case c.TTL > maxTTL:
		return fmt.Errorf("e2b.Backend.TTL is %v; E2B's sandboxes live for %v at most", c.TTL, maxTTL)
	case c.Dockerfile != "" && (c.BaseImage != "" || c.BaseTemplate != ""), c.BaseImage != "" && c.BaseTemplate != "":
		return errors.New("e2b.Backend: of Dockerfile, BaseImage and BaseTemplate only one can be given")
	}
	return errors.Join(
		driver.CheckEnv("e2b.Backend.Env", c.Env),
		checkURL("APIURL", "E2B_API_URL", c.APIURL), checkURL("SandboxURL", "E2B_SANDBOX_URL", c.SandboxURL),
		checkDomain(c.Domain), c.Network.check(), c.Registry.check(),
	)
}

// ttl is the lifetime in E2B's unit, rounded up.
func (c *config) ttl() int { return int((c.TTL + time.Second - 1) / time.Second) }

// target is the platform of E2B's microVMs.
func (b Backend) target() driver.Target {
	return driver.Target{OS: "linux", Arch: "amd64", Build: b.Build}
}

// validTemplate reports whether text is [namespace/]alias[:tag] in the characters that E2B takes.
func validTemplate(text string) bool {
	const chars = "abcdefghijklmnopqrstuvwxyz0123456789-_"
	rest, tag, tagged := strings.Cut(text, ":")
	namespace, alias, spaced := strings.Cut(rest, "/")
	if !spaced {
		namespace, alias = "x", rest
	}
	only := func(s, set string) bool { return s != "" && strings.Trim(s, set) == "" }
	return only(namespace, chars) && only(alias, chars) && (!tagged || only(tag, chars+".")) && len(text) <= 128
}
