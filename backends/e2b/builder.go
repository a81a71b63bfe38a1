//go:build !remotebox_runner

package e2b

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/pause"
)

const (
	// buildTime is longer than E2B lets a build take.
	buildTime = 75 * time.Minute
	// buildTries is how often a build is begun, or another's is awaited.
	buildTries = 12
)

// builder makes a template, together with whoever else makes the same one: E2B ends a build of a
// template when another is started, so that each joins the build that it finds under way.
type builder struct {
	*template
	log  *buildLog
	plan *plan
}

// registered is the schema TemplateRequestResponseV3.
type registered struct {
	TemplateID string `json:"templateID"`
	BuildID    string `json:"buildID"`
}

// errSuperseded is a build that E2B ended because another one was begun.
var errSuperseded = errors.New("another build of the template has taken this one's place")

// stepless is a failure of our build that no step is to blame for: E2B had trouble of its own, or
// ended the build for another one that is over by now. There is no code that tells these apart.
type stepless struct{ message string }

func (e *stepless) Error() string { return e.message }

// steplessTries is how often a build is begun that fails without a step's fault.
const steplessTries = 3

func (b *builder) build(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	err := b.attempts(ctx)
	if e, ok := errors.AsType[*httpapi.Error](err); ok && ctx.Err() == nil {
		if _, told := errors.AsType[*remote.BuildError](err); !told {
			return b.failed(0, fmt.Errorf("E2B template %s: %w", b.Name(), e))
		}
	}
	return err
}

// attempts begins builds, or joins those of others, until the template is there.
func (b *builder) attempts(ctx context.Context) error {
	var err error
	if b.plan, err = b.makePlan(ctx); err != nil {
		return err // before anything is sent
	}
	defer b.plan.close()
	failures := 0
	for try := range buildTries {
		var other string
		if other, err = b.underWay(ctx); err != nil {
			return err
		}
		if other != "" {
			io.WriteString(b.log, "waiting for a build of "+b.Name()+" that is under way\n")
			err = b.follow(ctx, registered{b.Name(), other}, false)
		} else {
			err = b.own(ctx)
		}
		if err == nil {
			return nil
		}
		if s, ok := errors.AsType[*stepless](err); ok {
			if failures++; failures == steplessTries {
				return b.failed(0, s)
			}
		} else if !errors.Is(err, errSuperseded) {
			return err
		}
		if ready, rerr := b.Ready(ctx); rerr != nil || ready {
			return rerr
		}
		if !pause.For(ctx, httpapi.Backoff(try)) {
			return ctx.Err()
		}
	}
	return b.failed(0, err)
}

// underWay finds a build of the template that has been started and has not ended.
func (b *builder) underWay(ctx context.Context) (build string, err error) {
	var t struct {
		Builds []struct {
			BuildID   string    `json:"buildID"`
			Status    string    `json:"status"`
			CreatedAt time.Time `json:"createdAt"`
		} `json:"builds"`
	}
	_, err = b.c.api.Do(ctx, &httpapi.Request{Method: http.MethodGet, Path: "/templates/" + url.PathEscape(b.Name()), Retry: httpapi.Idempotent}, &t)
	if status := httpapi.Status(err); status == http.StatusNotFound || status == http.StatusForbidden || status == http.StatusBadRequest {
		return "", nil // there is none yet, or a server that does not tell
	}
	if err != nil {
		return "", err
	}
	for _, other := range t.Builds {
		if other.Status == "building" {
			return other.BuildID, nil
		}
	}
	return "", nil
}

// own builds the template.
func (b *builder) own(ctx context.Context) error {
	var r registered
	_, err := b.c.api.Do(ctx, &httpapi.Request{
		Method: http.MethodPost, Path: "/v3/templates",
		JSON: map[string]any{"name": b.Name(), "cpuCount": b.c.CPUs, "memoryMB": b.c.MemoryMB},
		// A second registration makes the first one void.
		Retry: httpapi.Idempotent,
	}, &r)
	if httpapi.Status(err) == http.StatusConflict {
		return errSuperseded
	}
	if err != nil {
		return err
	}
	if err := b.uploadAll(ctx, r); err != nil {
		return err
	}
	if err := b.start(ctx, r); err != nil {
		return err
	}
	return b.follow(ctx, r, true)
}

// buildStart is the schema TemplateBuildStartV2.
type buildStart struct {
	FromImage    string            `json:"fromImage,omitempty"`
	FromTemplate string            `json:"fromTemplate,omitempty"`
	Registry     map[string]string `json:"fromImageRegistry,omitempty"`
	Steps        []buildStep       `json:"steps"`
	StartCmd     string            `json:"startCmd,omitempty"`
	ReadyCmd     string            `json:"readyCmd,omitempty"`
}

type buildStep struct {
	Type      string   `json:"type"`
	Args      []string `json:"args"`
	FilesHash string   `json:"filesHash,omitempty"`
}

func (b *builder) start(ctx context.Context, r registered) error {
	body := &buildStart{
		FromImage: b.plan.image, FromTemplate: b.c.BaseTemplate, Registry: b.c.Registry.wire(),
		StartCmd: b.c.StartCmd, ReadyCmd: b.c.ReadyCmd,
	}
	for _, s := range b.plan.steps {
		body.Steps = append(body.Steps, buildStep{s.Type, s.Args, s.hash})
	}
	_, err := b.c.api.Do(ctx, &httpapi.Request{
		Method: http.MethodPost, Path: buildPath(r, "/v2", ""), JSON: body, Retry: httpapi.Idempotent,
		Secrets: slices.Collect(maps.Values(body.Registry)),
	}, nil)
	// "build is not in waiting state": it has been started, by this request whose answer was lost, or
	// it is void because of another one.
	if httpapi.Status(err) == http.StatusBadRequest {
		if st, serr := b.status(ctx, r, 0); serr == nil {
			switch st.Status {
			case "building", "ready":
				return nil
			case "error":
				return errSuperseded
			}
		}
		return b.failed(0, err)
	}
	return err
}

func buildPath(r registered, version, rest string) string {
	return version + "/templates/" + url.PathEscape(r.TemplateID) + "/builds/" + url.PathEscape(r.BuildID) + rest
}

// failed is the error of a build: of a line of the Dockerfile, if it is known.
func (b *builder) failed(line int, err error) error {
	what := "E2B template " + b.Name()
	if b.made.DockerfilePath != "" {
		what = b.made.DockerfilePath
		if rel, rerr := filepath.Rel(b.made.Root, what); rerr == nil && filepath.IsLocal(rel) {
			what = rel
		}
	}
	return &remote.BuildError{What: what, Line: line, Log: b.log.end(), Err: err}
}
