//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

// pollEvery is how often a build's state is asked for: as often as E2B's SDKs do, and less often once
// nothing happens.
const (
	pollEvery   = 200 * time.Millisecond
	pollSlowest = 2 * time.Second
	// patience is how long E2B may tell nothing about a build before it is given up.
	patience = 2 * time.Minute
)

// buildState is the schema TemplateBuildInfo.
type buildState struct {
	Status  string     `json:"status"`
	Entries []logEntry `json:"logEntries"`
	Reason  *struct {
		Message string `json:"message"`
		Step    string `json:"step"`
	} `json:"reason"`
}

type logEntry struct {
	Message string `json:"message"`
	Level   string `json:"level"`
	Step    string `json:"step"`
}

func (b *builder) status(ctx context.Context, r registered, offset int) (*buildState, error) {
	var st buildState
	_, err := b.c.api.Do(ctx, &httpapi.Request{
		Method: http.MethodGet, Path: buildPath(r, "", "/status"),
		Query: url.Values{"logsOffset": {strconv.Itoa(offset)}, "limit": {"100"}}, Retry: httpapi.Idempotent,
	}, &st)
	return &st, err
}

// follow waits for a build to end, and passes its log on. Of a build that is not ours it can't be
// said whether it failed by itself or was ended: either way it is tried anew.
func (b *builder) follow(ctx context.Context, r registered, ours bool) error {
	offset, wait, heard := 0, pollEvery, time.Now()
	for {
		st, err := b.status(ctx, r, offset)
		if err != nil {
			if !passing(err) || time.Since(heard) > patience || !pause.For(ctx, pollSlowest) {
				return b.lost(ctx, err)
			}
			continue
		}
		heard = time.Now()
		for _, e := range st.Entries {
			b.log.line(b.said(e.Message))
		}
		offset += len(st.Entries)
		if len(st.Entries) > 0 {
			wait = pollEvery
			if st.Status != "building" && st.Status != "waiting" {
				continue // there may be more of the log
			}
		}
		switch st.Status {
		case "ready":
			return nil
		case "error":
			if !ours {
				return errSuperseded
			}
			return b.ended(ctx, r, st)
		}
		if !pause.For(ctx, wait) {
			return ctx.Err()
		}
		wait = min(wait*5/4, pollSlowest)
	}
}

// said is a text of E2B's about the build, in the words of the Dockerfile and without secrets: E2B
// repeats what a registry says, and that may hold its password.
func (b *builder) said(text string) string {
	return httpapi.Redact(b.plan.readable(text), b.c.api.Secrets)
}

// passing reports whether a question about a build may be answered the next time.
func passing(err error) bool {
	_, limited := errors.AsType[*remote.LimitError](err)
	status := httpapi.Status(err)
	return limited || status >= 500 || doubtful(err)
}

// lost is the error of a build, which goes on, that E2B tells nothing about any more.
func (b *builder) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return b.failed(0, fmt.Errorf("E2B does not tell how the build of %s goes, which may go on: %w; build once more: a build that is under way is joined", b.Name(), err))
}

// ended is why our build failed.
func (b *builder) ended(ctx context.Context, r registered, st *buildState) error {
	if other, err := b.underWay(ctx); err == nil && other != "" && other != r.BuildID {
		return errSuperseded
	}
	if ready, err := b.Ready(ctx); err == nil && ready {
		return nil
	}
	message, step := "the build failed", ""
	if st.Reason != nil {
		message, step = plain(b.said(st.Reason.Message)), st.Reason.Step
	}
	switch step {
	case "":
		return &stepless{message}
	case "base":
		return b.failed(b.plan.fromLine, fmt.Errorf("the base image %s can't be used: %s", b.plan.from(b.c), message))
	case "finalize":
		return b.failed(0, fmt.Errorf("after the last step: %s", message))
	default:
		n, err := strconv.Atoi(step)
		if err == nil && n >= 1 && n <= len(b.plan.steps) {
			return b.failed(b.plan.steps[n-1].Line, errors.New(message))
		}
	}
	return b.failed(0, errors.New(message))
}
