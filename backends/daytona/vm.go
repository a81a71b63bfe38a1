//go:build !remotebox_runner

package daytona

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/httpapi"
)

// Daytona makes snapshots of class linux-vm from images, not from Dockerfiles. So there is one of
// the base alone, for all programs, and the program's own is made of a sandbox of that into which
// the runner was put.

// baseName names the snapshot of a base.
func (b Backend) baseName() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d %d %q", b.baseImage(), b.cpus(), b.memory(), b.disk(), b.region()))
	return b.prefix() + "-base-" + hex.EncodeToString(sum[:8]) + "-" + string(b.class())
}

// buildVM makes the snapshot of class linux-vm.
func (s *snapshot) buildVM(ctx context.Context, a *api, log io.Writer) error {
	base := &build{api: a, name: s.backend.baseName(), log: log, what: "the image " + s.backend.baseImage()}
	err := base.run(ctx, func(ctx context.Context) error {
		req := s.backend.snapshotRequest(base.name, a.target)
		req.ImageName = s.backend.baseImage()
		fmt.Fprintf(log, "fetching %s as the snapshot %s\n", req.ImageName, base.name)
		return a.submit(ctx, req)
	})
	if err != nil {
		return err
	}
	var box *sandbox
	defer func() {
		if box != nil {
			box.Close(context.WithoutCancel(ctx))
		}
	}()
	b := &build{api: a, name: s.Name(), log: log, what: "the snapshot " + s.Name()}
	return b.run(ctx, func(ctx context.Context) error {
		if box != nil {
			return errors.New("daytona: the snapshot was removed while it was made")
		}
		var err error
		if box, err = s.prepare(ctx, a, base.name); err != nil {
			return err
		}
		fmt.Fprintf(log, "making the snapshot %s\n", s.Name())
		_, err = a.http.Do(ctx, &httpapi.Request{
			Method: http.MethodPost, Path: "/sandbox/" + url.PathEscape(box.id) + "/snapshot", JSON: map[string]string{"name": s.Name()}, Retry: httpapi.Idempotent,
		}, nil)
		return err
	})
}

// prepare makes a sandbox of the base and puts the runner into it.
func (s *snapshot) prepare(ctx context.Context, a *api, base string) (_ *sandbox, err error) {
	b := s.backend
	b.Ephemeral = true
	box, err := b.launch(ctx, a, base, driver.Spec{Once: true, Labels: map[string]string{"purpose": "making " + s.Name()}})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			box.Close(context.WithoutCancel(ctx))
		}
	}()
	f, err := os.Open(s.image.Runner)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := box.WriteFile(ctx, runnerPath, f); err != nil {
		return nil, fmt.Errorf("putting the runner into a sandbox of %s: %w", b.baseImage(), err)
	}
	_, err = box.toolbox.Do(ctx, &httpapi.Request{
		Method: http.MethodPost, Path: "/files/permissions", Query: url.Values{"path": {runnerPath}, "mode": {"0755"}}, Retry: httpapi.Idempotent,
	}, nil)
	if err != nil {
		return nil, err
	}
	// What is in memory only would not be in the snapshot.
	st, err := box.Exec(ctx, &driver.Command{Args: []string{"sync"}})
	if err == nil && st.Code != 0 {
		err = fmt.Errorf("daytona: sync in a sandbox of %s ended with code %d", b.baseImage(), st.Code)
	}
	return box, err
}
