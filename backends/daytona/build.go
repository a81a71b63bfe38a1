//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/httpapi"
)

// build is the making of a snapshot, by this program or by another one that was faster.
type build struct {
	api        *api
	name       string
	log        io.Writer
	what       string // for errors
	dockerfile []byte // the user's
	submitted  bool   // this program has asked for it
	removed    bool   // a broken one has been removed
}

// run makes the snapshot. submit asks for it once everything is there that it needs. The state of
// the snapshot is the truth; its log is read beside it.
func (b *build) run(ctx context.Context, submit func(context.Context) error) error {
	var p pace
	var logs *logReader
	defer func() { logs.stop() }()
	for {
		info, err := b.api.snapshot(ctx, b.name)
		switch {
		case errors.Is(err, errNoSnapshot):
			if b.submitted {
				return fmt.Errorf("daytona: the snapshot %s was removed while it was built", b.name)
			}
			err := submit(ctx)
			if says(err, http.StatusConflict) {
				err = nil // somebody else has asked for it: they build the same
			}
			if err != nil {
				return b.explain(err)
			}
			b.submitted = true
			continue
		case err != nil:
			return err
		}
		if b.submitted || b.removed || !info.failed() {
			logs = logs.follow(ctx, b.api, info, b.log)
		}
		switch {
		case info.State == "active":
			return nil
		case info.State == "inactive":
			if err := b.api.activate(ctx, info); err != nil {
				return err
			}
		case info.failed() && (b.submitted || b.removed):
			return b.failure(info, logs.tail(ctx))
		case info.failed():
			// It was left so by an earlier build; names can't be used again before they are free.
			fmt.Fprintf(b.log, "the snapshot %s is in state %s; building it again\n", b.name, info.State)
			if err := b.api.removeSnapshot(ctx, info.ID); err != nil {
				return err
			}
			logs.stop() // of a build that somebody else has seen fail
			logs, b.removed = nil, true
		case info.State == "removing":
			b.submitted = false
		}
		if !p.wait(ctx) {
			return fmt.Errorf("daytona: the snapshot %s is still in state %s: %w", b.name, info.State, ctx.Err())
		}
	}
}

// failure is the error of a build that Daytona has given up.
func (b *build) failure(info *snapshotInfo, log string) error {
	reason := reasonOf(info.ErrorReason)
	return &remote.BuildError{What: b.what, Line: failedLine(b.dockerfile, reason, log), Log: log, Err: errors.New(reason)}
}

// explain says what to do where Daytona says only what it can't.
func (b *build) explain(err error) error {
	if says(err, http.StatusBadRequest, "no runners are configured") {
		e, _ := asError(err)
		region := b.api.target
		if _, rest, ok := strings.Cut(e.Message, "region '"); ok {
			region, _, _ = strings.Cut(rest, "'")
		}
		return fmt.Errorf("daytona: region %q has nothing that runs this class of sandbox (%s): set Target to another region, or Class to the other class", region, e.Message)
	}
	return b.api.inRegion(refused(err))
}

// snapshotRequest is the body of POST /snapshots.
type snapshotRequest struct {
	Name      string     `json:"name"`
	ImageName string     `json:"imageName,omitempty"`
	BuildInfo *buildInfo `json:"buildInfo,omitempty"`
	CPU       int        `json:"cpu"`
	Memory    int        `json:"memory"`
	Disk      int        `json:"disk"`
	RegionID  string     `json:"regionId,omitempty"`
	Class     Class      `json:"sandboxClass"`
}

type buildInfo struct {
	Dockerfile    string   `json:"dockerfileContent"`
	ContextHashes []string `json:"contextHashes,omitempty"`
}

// request is the body that asks for a snapshot of b.
func (b Backend) snapshotRequest(name, target string) *snapshotRequest {
	return &snapshotRequest{Name: name, CPU: b.cpus(), Memory: b.memory(), Disk: b.disk(), RegionID: target, Class: b.class()}
}

// submit asks for a snapshot. Its name can't be taken twice, so that the request may be sent
// again.
func (a *api) submit(ctx context.Context, req *snapshotRequest) error {
	_, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodPost, Path: "/snapshots", JSON: req, Retry: httpapi.Idempotent}, nil)
	return err
}
