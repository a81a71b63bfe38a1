//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
)

var (
	_ driver.ImageStore = Backend{}
	_ driver.Diagnoser  = Backend{}
)

// ownSuffix is what follows the prefix in names of snapshots that this package makes.
var ownSuffix = regexp.MustCompile(`^-(base-)?[0-9a-f]{16}-(container|linux-vm)$`)

// own reports whether a snapshot was made by b, or by a Backend that differs in its class only.
func (b Backend) own(name string) bool {
	rest, ok := strings.CutPrefix(name, b.prefix())
	return ok && ownSuffix.MatchString(rest)
}

// pageSize is how many snapshots are asked for at once.
const pageSize = 100

// Images implements driver.ImageStore.
func (b Backend) Images(ctx context.Context) ([]driver.StoredImage, error) {
	a, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	var images []driver.StoredImage
	for page := 1; ; page++ {
		var list struct {
			Items      []snapshotInfo `json:"items"`
			TotalPages int            `json:"totalPages"`
		}
		_, err := a.http.Do(ctx, &httpapi.Request{
			Method: http.MethodGet, Path: "/snapshots", Retry: httpapi.Idempotent,
			Query: url.Values{"name": {b.prefix()}, "page": {strconv.Itoa(page)}, "limit": {strconv.Itoa(pageSize)}},
		}, &list)
		if err != nil {
			return nil, err
		}
		for _, s := range list.Items {
			if s.General || s.State == "removing" || !b.own(s.Name) {
				continue
			}
			created, _ := time.Parse(time.RFC3339, s.CreatedAt)
			images = append(images, driver.StoredImage{Name: s.Name, Created: created, Size: int64(s.Size * 1e9)})
		}
		if page >= list.TotalPages || len(list.Items) == 0 {
			return images, nil
		}
	}
}

// RemoveImage implements driver.ImageStore. Daytona keeps what sandboxes need of a snapshot.
func (b Backend) RemoveImage(ctx context.Context, name string) error {
	if !b.own(name) {
		return fmt.Errorf("daytona: the snapshot %q was not made by remote-box under the name %q", name, b.prefix())
	}
	a, err := b.connect(ctx)
	if err != nil {
		return err
	}
	info, err := a.snapshot(ctx, name)
	if errors.Is(err, errNoSnapshot) {
		return nil
	}
	if err != nil {
		return err
	}
	return a.removeSnapshot(ctx, info.ID)
}

// Diagnose implements driver.Diagnoser.
func (b Backend) Diagnose(ctx context.Context) []driver.Finding {
	if err := b.check(); err != nil {
		return []driver.Finding{{What: "the daytona backend's settings", Problem: err.Error(), Mend: "change the field that is named"}}
	}
	a, err := b.connect(ctx)
	if err != nil {
		return []driver.Finding{{What: "the daytona key", Problem: err.Error(), Mend: "export DAYTONA_API_KEY=…"}}
	}
	found := driver.Finding{What: "Daytona at " + a.http.Base}
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	var list struct{}
	answer, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/snapshots", Query: url.Values{"limit": {"1"}}}, &list)
	if err != nil {
		found.Problem, found.Mend = err.Error(), "see whether the key is good and whether DAYTONA_API_URL says where the API is"
		return []driver.Finding{found}
	}
	if v := answer.Header.Get("X-Daytona-Api-Version"); v != "" {
		found.What += ", version " + httpapi.Printable(v)
	}
	return []driver.Finding{found}
}
