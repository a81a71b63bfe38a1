//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
)

var (
	_ driver.ImageStore = Backend{}
	_ driver.Diagnoser  = Backend{}
)

// listedTemplate is what is needed of the schema Template.
type listedTemplate struct {
	Aliases    []string  `json:"aliases"`
	CreatedAt  time.Time `json:"createdAt"`
	DiskSizeMB int64     `json:"diskSizeMB"`
}

// Images implements driver.ImageStore.
func (b Backend) Images(ctx context.Context) ([]driver.StoredImage, error) {
	c, err := b.config()
	if err != nil {
		return nil, err
	}
	var found []driver.StoredImage
	for token := ""; ; {
		var page []listedTemplate
		q := url.Values{"limit": {"100"}}
		if token != "" {
			q.Set("nextToken", token)
		}
		a, err := c.api.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/v2/templates", Query: q, Retry: httpapi.Idempotent}, &page)
		if err != nil {
			return nil, err
		}
		for _, t := range page {
			for _, alias := range t.Aliases {
				if c.made(alias) {
					found = append(found, driver.StoredImage{Name: alias, Created: t.CreatedAt, Size: t.DiskSizeMB << 20})
				}
			}
		}
		if token = a.Header.Get("X-Next-Token"); token == "" {
			return found, nil
		}
	}
}

// made reports whether a template's name is one that remote-box gives under this prefix.
func (c *config) made(alias string) bool {
	prefix := c.TemplatePrefix
	if _, after, ok := strings.Cut(prefix, "/"); ok {
		prefix = after // aliases are listed without their namespace
	}
	identity, ok := strings.CutPrefix(alias, prefix+"-")
	return ok && len(identity) == 16 && strings.Trim(identity, "0123456789abcdef") == ""
}

// RemoveImage implements driver.ImageStore.
func (b Backend) RemoveImage(ctx context.Context, image string) error {
	c, err := b.config()
	if err != nil {
		return err
	}
	if !c.made(image) {
		return fmt.Errorf("%s: %q is no template that remote-box made under the prefix %s", name, image, c.TemplatePrefix)
	}
	// A paused sandbox is resumed from its own snapshot, but which layers that shares is E2B's affair.
	var used []sandboxAnswer
	q := url.Values{"template": {image}, "state": {"running,paused"}, "limit": {"1"}}
	if _, err := c.api.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/v2/sandboxes", Query: q, Retry: httpapi.Idempotent}, &used); err != nil {
		return err
	}
	if len(used) > 0 {
		return fmt.Errorf("%s: the template %s is used by the sandbox %s", name, image, used[0].SandboxID)
	}
	_, err = c.api.Do(ctx, &httpapi.Request{Method: http.MethodDelete, Path: "/templates/" + url.PathEscape(image), Retry: httpapi.Idempotent}, nil)
	if httpapi.Status(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// Diagnose implements driver.Diagnoser.
func (b Backend) Diagnose(ctx context.Context) []driver.Finding {
	c, err := b.config()
	if err != nil {
		f := driver.Finding{What: "E2B's settings", Problem: err.Error(), Mend: "change the backend value"}
		if k, ok := errors.AsType[*remote.CredentialError](err); ok {
			f.What, f.Problem, f.Mend = "E2B's key", k.Reason, "set "+k.Variable+" to a key from https://e2b.dev/dashboard"
		}
		return []driver.Finding{f}
	}
	found := []driver.Finding{{What: "E2B's key is there"}}
	f := driver.Finding{What: "E2B at " + c.APIURL}
	_, err = c.api.Do(ctx, &httpapi.Request{
		Method: http.MethodGet, Path: "/v2/templates", Query: url.Values{"limit": {"1"}}, Retry: httpapi.Idempotent, Timeout: 20 * time.Second,
	}, nil)
	switch k, refused := errors.AsType[*remote.CredentialError](err); {
	case refused:
		f.Problem, f.Mend = "it refuses the key: "+k.Reason, "set "+k.Variable+" to a key from https://e2b.dev/dashboard"
	case err != nil:
		f.Problem, f.Mend = err.Error(), "look at E2B_API_URL, E2B_DOMAIN and the network"
	}
	return append(found, f)
}
