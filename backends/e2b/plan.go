//go:build !remotebox_runner

package e2b

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/internal/dockerfile"
)

// plan is everything about a build that can be known before anything is sent.
type plan struct {
	image    string // base image; "" with a base template
	fromLine int
	steps    []*planStep
	temp     []string // files to be removed
}

// planStep is a step with the files that belong to it.
type planStep struct {
	dockerfile.Step
	hash  string // of the files; "" without any
	files []*staged

	archive     string // path, once it has been made
	archiveSize int64
}

// close removes what the plan has put on this host's disk.
func (p *plan) close() {
	for _, name := range p.temp {
		os.Remove(name)
	}
}

// from names what the template is made of.
func (p *plan) from(c *config) string { return cmp.Or(p.image, c.BaseTemplate) }

// readable puts what stands in the Dockerfile in place of what was made of it.
func (p *plan) readable(text string) string {
	for _, s := range p.steps {
		if s.Type == "RUN" && s.Text != "" {
			text = strings.ReplaceAll(text, s.Args[0], strings.TrimPrefix(s.Text, "RUN "))
		}
	}
	return text
}

func (b *builder) makePlan(ctx context.Context) (*plan, error) {
	p := &plan{}
	if err := b.base(ctx, p); err != nil {
		return nil, err
	}
	runner, err := b.runnerStep()
	if err != nil {
		return nil, err
	}
	p.steps = append(p.steps, runner)
	return p, nil
}

// base adds the steps before the runner's.
func (b *builder) base(ctx context.Context, p *plan) error {
	if b.made.Dockerfile == nil {
		if b.c.BaseTemplate == "" {
			p.image = cmp.Or(b.c.BaseImage, defaultBase)
		}
		// E2B's own convention (SDK 2.51, template).
		p.steps = append(p.steps,
			&planStep{Step: dockerfile.Step{Type: "USER", Args: []string{"user"}}},
			&planStep{Step: dockerfile.Step{Type: "WORKDIR", Args: []string{"/home/user"}}})
		return nil
	}
	d, err := dockerfile.Translate(b.made.Dockerfile)
	if e, ok := errors.AsType[*dockerfile.Error](err); ok {
		return b.failed(e.Line, errors.New(e.Reason))
	}
	if err != nil {
		return b.failed(0, err)
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(b.log, "warning: %s:%d: %s\n", b.made.DockerfilePath, w.Line, w.Text)
	}
	p.image, p.fromLine = d.From, d.FromLine
	for _, s := range d.Steps {
		step := &planStep{Step: s}
		if s.Copy != nil {
			if err := step.stage(b.made.Context, s.Copy); err != nil {
				return b.failed(s.Line, err)
			}
			if dirs := step.ownDirs(); dirs != nil {
				p.steps = append(p.steps, dirs)
			}
		}
		p.steps = append(p.steps, step)
	}
	return ctx.Err()
}

// runnerStep puts the runner into the template, last, so that all before it is the same from build
// to build and E2B need not do it again.
func (b *builder) runnerStep() (*planStep, error) {
	info, err := os.Stat(b.made.Runner)
	if err != nil {
		return nil, &remote.BuildError{What: "E2B template " + b.Name(), Err: err}
	}
	s := &planStep{Step: dockerfile.Step{Type: "COPY", Text: "the remote-box runner"}}
	sum := ""
	for _, part := range b.made.Parts {
		if part.Name == "runner" {
			sum = part.Value
		}
	}
	s.files = []*staged{{
		header: tar.Header{Name: "runner", Typeflag: tar.TypeReg, Mode: 0o755, Size: info.Size()},
		open:   func() (io.ReadCloser, error) { return os.Open(b.made.Runner) },
		sum:    sum,
	}}
	// The mode is said twice: files that are uploaded to a running sandbox would lose theirs.
	s.Args = []string{"runner", runnerPath, "root:root", "0755"}
	s.hash = hashFiles(s.files)
	return s, nil
}
