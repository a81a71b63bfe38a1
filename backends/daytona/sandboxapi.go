//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/remote-box/remote/internal/httpapi"
)

// sandboxInfo is what the control plane says about a sandbox, as far as it matters here.
type sandboxInfo struct {
	ID              string            `json:"id"`
	Name            string            `json:"name"`
	Snapshot        string            `json:"snapshot"`
	State           string            `json:"state"`
	DesiredState    string            `json:"desiredState"`
	ErrorReason     string            `json:"errorReason"`
	Recoverable     bool              `json:"recoverable"`
	Labels          map[string]string `json:"labels"`
	Class           string            `json:"sandboxClass"`
	Memory          float64           `json:"memory"` // GiB
	Target          string            `json:"target"`
	ToolboxProxyURL string            `json:"toolboxProxyUrl"`
}

// gone reports whether the sandbox is on its way out. Deletion goes on after it was accepted.
func (i *sandboxInfo) gone() bool {
	return i.State == "destroyed" || i.State == "destroying" || i.DesiredState == "destroyed"
}

// failed is the error of a sandbox that will not change by itself, or nil.
func (i *sandboxInfo) failed() error {
	if i.State != "error" && i.State != "build_failed" {
		return nil
	}
	return fmt.Errorf("daytona: the sandbox %s is in state %s: %s", i.ID, i.State, reasonOf(i.ErrorReason))
}

// createRequest is the body of POST /sandbox.
type createRequest struct {
	Name             string            `json:"name"`
	Snapshot         string            `json:"snapshot"`
	Target           string            `json:"target,omitempty"`
	Labels           map[string]string `json:"labels"`
	AutoStop         *int              `json:"autoStopInterval,omitempty"`
	AutoPause        *int              `json:"autoPauseInterval,omitempty"`
	AutoDelete       *int              `json:"autoDeleteInterval,omitempty"`
	TTL              int               `json:"ttlMinutes,omitempty"`
	NetworkBlockAll  bool              `json:"networkBlockAll,omitempty"`
	NetworkAllowList string            `json:"networkAllowList,omitempty"`
	DomainAllowList  string            `json:"domainAllowList,omitempty"`
	Volumes          []volumeRequest   `json:"volumes,omitempty"`
}

type volumeRequest struct {
	ID        string `json:"volumeId"`
	MountPath string `json:"mountPath"`
	Subpath   string `json:"subpath,omitempty"`
}

// create creates a sandbox. Its name is new: whoever sends the request again gets 409 if it has
// been carried out.
func (a *api) create(ctx context.Context, req *createRequest, timeout time.Duration) (*sandboxInfo, error) {
	info := new(sandboxInfo)
	_, err := a.http.Do(ctx, &httpapi.Request{
		Method: http.MethodPost, Path: "/sandbox", JSON: req, Retry: httpapi.Unprocessed, Timeout: timeout,
	}, info)
	return info, a.inRegion(refused(err))
}

// sandbox describes a sandbox, given its id or name. One that does not exist is errGone.
func (a *api) sandbox(ctx context.Context, id string) (*sandboxInfo, error) {
	info := new(sandboxInfo)
	_, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/sandbox/" + url.PathEscape(id), Retry: httpapi.Idempotent}, info)
	if says(err, http.StatusNotFound) {
		return nil, fmt.Errorf("daytona: %w: there is no sandbox %s", errGone, id)
	}
	if err != nil {
		return nil, err
	}
	return info, nil
}

// act makes a sandbox change its state: "start", "stop", "pause", "archive", "recover".
func (a *api) act(ctx context.Context, id, action string, query url.Values) error {
	_, err := a.http.Do(ctx, &httpapi.Request{
		Method: http.MethodPost, Path: "/sandbox/" + url.PathEscape(id) + "/" + action, Query: query, Retry: httpapi.Idempotent,
	}, nil)
	if says(err, http.StatusNotFound) {
		return fmt.Errorf("daytona: %w: there is no sandbox %s", errGone, id)
	}
	return refused(err)
}

// remove deletes a sandbox, given its id or name, and sees to it that the deletion has begun; with
// follow, that it has ended. One that is gone is no error.
func (a *api) remove(ctx context.Context, id string, follow bool) error {
	var p pace
	for {
		info := new(sandboxInfo)
		_, err := a.http.Do(ctx, &httpapi.Request{Method: http.MethodDelete, Path: "/sandbox/" + url.PathEscape(id), Retry: httpapi.Idempotent}, info)
		if e, ok := asError(err); ok && e.Status == 0 && e.Err == nil {
			err = nil // accepted, with another body than expected
		}
		switch {
		case says(err, http.StatusNotFound):
			return nil
		case err == nil && info.ID != "":
			id = info.ID // the name may be another sandbox's from now on
			if info.gone() && !follow {
				return nil
			}
			return a.followRemoval(ctx, id, follow)
		case err == nil:
			return a.followRemoval(ctx, id, follow)
		case !busy(err):
			return err
		}
		if !p.wait(ctx) {
			return err
		}
	}
}

// followRemoval looks at a sandbox until it is gone.
func (a *api) followRemoval(ctx context.Context, id string, follow bool) error {
	var p pace
	for {
		info, err := a.sandbox(ctx, id)
		switch {
		case errors.Is(err, errGone):
			return nil
		case err != nil:
			return err
		case info.State == "destroyed", info.gone() && !follow:
			return nil
		case info.failed() != nil:
			return fmt.Errorf("daytona: the sandbox %s could not be deleted: %w", id, info.failed())
		}
		if !p.wait(ctx) {
			return fmt.Errorf("daytona: the sandbox %s is still in state %s after its deletion was accepted: %w", id, info.State, ctx.Err())
		}
	}
}

// touch says that a sandbox is in use.
func (a *api) touch(ctx context.Context, id string) {
	a.http.Do(ctx, &httpapi.Request{Method: http.MethodPost, Path: "/sandbox/" + url.PathEscape(id) + "/last-activity", Retry: httpapi.Idempotent, Timeout: 20 * time.Second}, nil)
}

// request is the body that creates a sandbox of b.
func (b Backend) request(name, snapshot, target string, labels map[string]string, once bool) *createRequest {
	req := &createRequest{
		Name: name, Snapshot: snapshot, Target: target, Labels: map[string]string{"remote-box": "1"},
		TTL: minutes(b.TTL), NetworkBlockAll: b.NetworkBlockAll,
		NetworkAllowList: strings.Join(b.NetworkAllow, ","), DomainAllowList: strings.Join(b.DomainAllow, ","),
	}
	for _, set := range []map[string]string{b.Labels, labels} {
		for k, v := range set {
			req.Labels[k] = v
		}
	}
	for _, v := range b.Volumes {
		req.Volumes = append(req.Volumes, volumeRequest{v.ID, v.Target, v.Subpath})
	}
	stop, deleted := minutes(b.autoStop()), minutes(b.keepPaused())
	if b.autoStop() < 0 {
		stop = 0 // never
	}
	if b.keepPaused() < 0 {
		deleted = -1 // never
	}
	if b.Ephemeral || once {
		deleted = 0 // as soon as it is stopped
	}
	req.AutoDelete = &deleted
	if b.class() == LinuxVM && deleted != 0 {
		req.AutoPause = &stop // which keeps its processes
	} else {
		req.AutoStop = &stop
	}
	return req
}

// minutes is d in whole minutes, rounded up.
func minutes(d time.Duration) int { return int((d + time.Minute - 1) / time.Minute) }

func asError(err error) (*httpapi.Error, bool) { return errors.AsType[*httpapi.Error](err) }
