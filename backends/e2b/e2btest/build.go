//go:build !remotebox_runner

package e2btest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/envd"
)

type buildStatus string

const (
	statusWaiting  buildStatus = "waiting"
	statusBuilding buildStatus = "building"
	statusReady    buildStatus = "ready"
	statusError    buildStatus = "error"
)

// build is one of a template's. What changes is guarded by Server.mu.
type build struct {
	server       *Server
	template     *template
	id           string
	tags         []string
	cpus, memory int
	createdAt    time.Time

	status     buildStatus
	finishedAt *time.Time
	reason     *buildReason
	logs       []logEntry
	image      *image // when ready
	cancel     context.CancelFunc
}

// buildReason is the schema BuildStatusReason.
type buildReason struct {
	LogEntries []logEntry `json:"logEntries"` // null, as seen
	Message    string     `json:"message"`
	Step       string     `json:"step,omitempty"`
}

// stepError is a failure of the build's content.
type stepError struct{ step, message string }

func (e *stepError) Error() string { return e.message }

func (t *template) find(id string) *build {
	for _, b := range t.builds {
		if b.id == id {
			return b
		}
	}
	return nil
}

// stop cancels a build that runs; the caller holds s.mu.
func (b *build) stop() {
	if b.status == statusBuilding {
		b.cancel()
		b.fail("", "build was cancelled")
	}
}

// fail ends the build, unless something has; the caller holds s.mu.
func (b *build) fail(step, message string) {
	if b.status != statusWaiting && b.status != statusBuilding {
		return
	}
	b.logs = append(b.logs, logEntry{Timestamp: time.Now().UTC(), Message: "Build failed: " + message, Level: "error", Step: step})
	b.status, b.reason, b.finishedAt = statusError, &buildReason{Message: message, Step: step}, new(time.Now().UTC())
}

func (b *build) log(level, step, message string) {
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	b.logs = append(b.logs, logEntry{Timestamp: time.Now().UTC(), Message: message, Level: level, Step: step})
}

// run is the whole build.
func (b *build) run(ctx context.Context, request buildRequest) {
	image, err := b.make(ctx, request)
	b.cancel()
	b.server.mu.Lock()
	defer b.server.mu.Unlock()
	var failed *stepError
	switch {
	case errors.As(err, &failed):
		b.fail(failed.step, failed.message)
	case err != nil:
		b.fail("", err.Error())
	case b.status == statusBuilding:
		b.image, b.status, b.finishedAt = image, statusReady, new(time.Now().UTC())
		b.logs = append(b.logs, logEntry{Timestamp: time.Now().UTC(), Message: "Build finished", Level: "info", Step: "finalize"})
		for _, tag := range b.tags {
			b.template.tags[tag] = tagged{b, time.Now().UTC()}
		}
	}
	b.server.cfg.Logger.Info("build ended", "template", b.template.id, "build", b.id, "status", b.status, "error", err)
}

func (b *build) make(ctx context.Context, request buildRequest) (*image, error) {
	s := b.server
	base := &image{}
	from := request.FromImage
	if request.FromTemplate != "" {
		from = request.FromTemplate
		parent, err := s.findBuild(from)
		if err != nil {
			return nil, &stepError{"base", "error getting base template: " + err.Error()}
		}
		base = parent.image
	}
	b.log("info", "base", "[base] FROM "+from)
	dir, err := s.templatesDir(b.id)
	if err != nil {
		return nil, err
	}
	m, err := s.startMachine(dir, b.id, base.layers, envd.Config{Env: map[string]string{"E2B_SANDBOX_ID": b.id}, User: "root"})
	if err != nil {
		return nil, err
	}
	defer m.stop()
	w := &worker{build: b, machine: m, image: &image{
		layers: append([]string{dir}, base.layers...), env: maps.Clone(base.env),
		user: base.user, workdir: base.workdir, startCmd: base.startCmd, readyCmd: base.readyCmd,
	}}
	if w.image.env == nil {
		w.image.env = make(map[string]string)
	}
	if w.image.user == "" {
		w.image.user = "root" // of the steps, until one says otherwise
	}
	for i, step := range request.Steps {
		number := strconv.Itoa(i + 1)
		w.prefix = fmt.Sprintf("[builder %d/%d] ", i+1, len(request.Steps))
		w.step = number
		b.log("info", number, w.prefix+step.String())
		if err := w.execute(ctx, step); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &stepError{number, err.Error()}
		}
	}
	if !w.userSet && base.user == "" {
		w.image.user = "user" // which every sandbox has
	}
	if err := w.finalize(ctx, request); err != nil {
		return nil, err
	}
	return w.image, nil
}
