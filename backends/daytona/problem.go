//go:build !remotebox_runner

package daytona

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
)

// Errors that say what to do where Daytona says only what it can't.

// inRegion names the field if err is about a region.
func (a *api) inRegion(err error) error {
	e, ok := asError(err)
	if !ok || a.target == "" {
		return err
	}
	text := strings.ToLower(e.Message)
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound} {
		// There is no code for it.
		if e.Status == status && strings.Contains(text, "region") && !strings.Contains(text, "snapshot") {
			return fmt.Errorf("daytona: Target: the region %q can't be used: name one that the organization has, or set neither Target nor DAYTONA_TARGET: %w", a.target, err)
		}
	}
	return err
}

// unpinned is the error of a snapshot that was named in the backend value and does not exist.
type unpinned struct{ *remote.MissingImageError }

func (e unpinned) Error() string {
	return fmt.Sprintf("daytona: Snapshot: there is no snapshot %q in the organization of this key: name one that remote-box has made, or set none, to have it made", e.Image)
}

// Unwrap returns the *remote.MissingImageError.
func (e unpinned) Unwrap() error { return e.MissingImageError }

// reasonOf is why something failed, in Daytona's words if it has any.
func reasonOf(text string) string {
	return cmp.Or(httpapi.Printable(text), "Daytona gives no reason")
}

// notFound is the code of a shell's or env's that has not found a program.
const notFound = 127

// explainMissing adds to what a runner has printed that there is no runner. A function may end with
// the code, too, so that the file is looked for.
func (s *sandbox) explainMissing(ctx context.Context, cmd *driver.Command, st driver.Status) {
	if cmd.Args[0] != driver.RunnerArg || st.Code != notFound || cmd.Stderr == nil {
		return
	}
	_, err := s.toolbox.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/files/info", Query: url.Values{"path": {runnerPath}}, Retry: httpapi.Idempotent}, nil)
	if says(err, http.StatusNotFound) {
		io.WriteString(cmd.Stderr, "daytona: the snapshot "+s.image+" was not made by remote-box: there is no "+runnerPath+" in it. Set no Snapshot, to have one made, or name one that was made from these sources.\n")
	}
}
