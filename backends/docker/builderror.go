//go:build !remotebox_runner

package docker

import (
	"errors"
	"slices"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/solver/errdefs"
	"github.com/opencontainers/go-digest"

	"github.com/remote-box/remote"
)

// failure is how the steps of a build ended, and what the builder was asked for.
type failure struct {
	err error
	def *llb.Definition
}

// buildError says which line of the Dockerfile a build failed at. err is the error that came back
// from the builder, failed tells more if it is set.
func (i *builtImage) buildError(err error, failed failure, p *progress) error {
	e := &remote.BuildError{What: i.what(), Log: p.log(), Err: err}
	if failed.err != nil {
		e.Err = failed.err
	}
	if i.image.Context == nil {
		return e
	}
	for _, line := range []int{lineOf(failed.err), lineOf(err), failed.lineOfStep(slices.Concat(stepsOf(failed.err), stepsOf(err), p.failed()))} {
		if line > 0 {
			e.Line = line
			break
		}
	}
	return e
}

// lineOf is the line that an error names, or 0.
func lineOf(err error) int {
	if err == nil {
		return 0
	}
	for _, s := range errdefs.Sources(err) {
		for _, r := range s.Ranges {
			if r.Start != nil && r.Start.Line > 0 {
				return int(r.Start.Line)
			}
		}
	}
	if at, ok := errors.AsType[*parser.LocationError](err); ok {
		for _, l := range at.Locations {
			for _, r := range l {
				return r.Start.Line
			}
		}
	}
	return 0
}

// stepsOf are the steps that an error is about.
func stepsOf(err error) (steps []digest.Digest) {
	for err != nil {
		v, ok := errors.AsType[*errdefs.VertexError](err)
		if !ok {
			break
		}
		steps = append(steps, digest.Digest(v.Digest))
		err = v.Unwrap()
	}
	return steps
}

// lineOfStep is the line that the first of steps with one comes from: older builders do not say in
// their errors.
func (f failure) lineOfStep(steps []digest.Digest) int {
	if f.def == nil || f.def.Source == nil {
		return 0
	}
	for _, step := range steps {
		locations := f.def.Source.Locations[step.String()]
		if locations == nil {
			continue
		}
		for _, l := range locations.Locations {
			for _, r := range l.Ranges {
				if r.Start != nil {
					return int(r.Start.Line)
				}
			}
		}
	}
	return 0
}
