//go:build !remotebox_runner

package remote

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/hostmode"
	"github.com/remote-box/remote/internal/registry"
)

// host answers the remote-box command in a program that it made of the user's packages.
type host struct {
	*hostmode.Reporter
	req *hostmode.Request
	fs  []*registry.Function // those that the request is about
}

// serveHost answers one request.
func serveHost(ctx context.Context, req *hostmode.Request, rep *hostmode.Reporter) {
	h := &host{rep, req, nil}
	for _, f := range registry.All() {
		if f.Main || !req.Main {
			h.fs = append(h.fs, f)
		}
	}
	switch req.Op {
	case hostmode.List:
		h.list(ctx)
	case hostmode.Build, hostmode.Check:
		h.build(ctx)
	case hostmode.Call:
		h.call(ctx)
	case hostmode.Stored, hostmode.Remove:
		h.stored(ctx)
	case hostmode.Doctor:
		h.diagnose(ctx)
	default:
		h.failed(errors.New("an unknown request: " + req.Op))
	}
}

func (h *host) failed(err error) {
	h.Report(&hostmode.Event{Kind: hostmode.Failed, Failure: failure(err)})
}

// failure describes an error to the command.
func failure(err error) *hostmode.Failure {
	if err == nil {
		return nil
	}
	f := &hostmode.Failure{Kind: hostmode.FailedOther, Message: err.Error()}
	if _, ok := errors.AsType[*CredentialError](err); ok {
		f.Kind = hostmode.FailedCredential
	} else if b, ok := errors.AsType[*BuildError](err); ok {
		f.Kind, f.What, f.Line, f.Log = hostmode.FailedBuild, b.What, b.Line, b.Log
	}
	return f
}

// list reports the functions. The images' names follow from the sources.
func (h *host) list(ctx context.Context) {
	s := survey{jobs: h.req.Jobs}
	of := map[string]*surveyed{}
	if !h.req.NoImages {
		for _, i := range s.describe(ctx, h.fs) {
			for _, f := range i.Functions {
				of[f] = i
			}
		}
	}
	for _, f := range h.fs {
		e := &hostmode.Function{
			ID: f.ID(), Package: f.Package, Name: f.Name, Description: f.Description, In: f.In, Out: f.Out, File: f.File, Line: f.Line,
			Program: (&program{f}).Name(), Backend: backendOf(f).Name(),
		}
		if i := of[f.ID()]; i != nil {
			e.Image, e.Failure = i.Image, failure(i.Err)
		}
		h.Report(&hostmode.Event{Kind: hostmode.FunctionSeen, Function: e})
	}
}

func (h *host) build(ctx context.Context) {
	s := survey{jobs: h.req.Jobs, check: h.req.Op == hostmode.Check}
	s.begin = func(i *ImageReport) { h.Report(&hostmode.Event{Kind: hostmode.Building, Image: wireImage(i)}) }
	terminal := hostmode.OpenTerminal(h.req)
	s.log = func(i *ImageReport) io.WriteCloser {
		if terminal != nil {
			return display{terminal}
		}
		return &eventWriter{h: h, event: hostmode.Event{Kind: hostmode.Log, Image: &hostmode.Image{Program: i.Program, Backend: i.Backend, Image: i.Image}}}
	}
	s.done = func(i ImageReport) { h.Report(&hostmode.Event{Kind: hostmode.ImageDone, Image: wireImage(&i)}) }
	s.run(ctx, h.fs)
}

func wireImage(i *ImageReport) *hostmode.Image {
	return &hostmode.Image{
		Status: string(i.Status), Program: i.Program, Backend: i.Backend, Prefix: i.Prefix, Image: i.Image, Local: i.Local,
		Functions: i.Functions, Parts: lockedParts(i.Parts), Seconds: i.Took.Round(time.Millisecond).Seconds(), Failure: failure(i.Err),
	}
}

// display is the terminal while one build has it. Backends see that it is one.
type display struct{ *os.File }

func (display) Close() error { return nil }

// eventWriter reports what is written to it.
type eventWriter struct {
	h     *host
	event hostmode.Event
}

func (w *eventWriter) Write(p []byte) (int, error) {
	e := w.event
	e.Data = p
	w.h.Report(&e)
	return len(p), w.h.Err()
}

func (w *eventWriter) Close() error { return nil }

// call calls a function. What it prints is reported as it comes.
func (h *host) call(ctx context.Context) {
	f, ok := registry.Lookup(h.req.Function)
	if !ok {
		h.failed(errors.New("no such function: " + h.req.Function))
		return
	}
	ctx = WithOutput(ctx, &eventWriter{h, hostmode.Event{Kind: hostmode.Stdout}}, &eventWriter{h, hostmode.Event{Kind: hostmode.Stderr}})
	out, err := f.Call(ctx, h.req.Input)
	if err != nil {
		h.failed(err)
		return
	}
	h.Report(&hostmode.Event{Kind: hostmode.Result, Result: out})
}

// backends calls f with each backend value once.
func (h *host) backends(f func(driver.Backend)) {
	for _, g := range group(h.fs) {
		f(g.backend)
	}
}

// stored reports the images that the sources name and those that the backends have, or removes
// what the request says.
func (h *host) stored(ctx context.Context) {
	s := survey{jobs: h.req.Jobs}
	for _, i := range s.describe(ctx, h.fs) {
		if !i.Local {
			h.Report(&hostmode.Event{Kind: hostmode.ImageDone, Image: wireImage(&i.ImageReport)})
		}
	}
	seen := map[string]bool{}
	h.backends(func(b driver.Backend) {
		store, ok := b.(driver.ImageStore)
		if !ok {
			return
		}
		images, err := store.Images(ctx)
		if err != nil {
			h.Report(&hostmode.Event{Kind: hostmode.Failed, Backend: b.Name(), Failure: failure(err)})
			return
		}
		for _, i := range images {
			key := b.Name() + " " + i.Name
			if seen[key] {
				continue
			}
			seen[key] = true
			e := hostmode.Event{Kind: hostmode.StoredImage, Backend: b.Name(), Stored: &i}
			if h.req.Op == hostmode.Remove {
				if !slices.Contains(h.req.Remove, key) {
					continue
				}
				e.Kind, e.Failure = hostmode.Removed, failure(store.RemoveImage(ctx, i.Name))
			}
			h.Report(&e)
		}
	})
}

// diagnose reports the functions, and what the backends find wrong with themselves.
func (h *host) diagnose(ctx context.Context) {
	for _, f := range h.fs {
		h.Report(&hostmode.Event{Kind: hostmode.FunctionSeen, Function: &hostmode.Function{ID: f.ID()}})
	}
	h.backends(func(b driver.Backend) {
		d, ok := b.(driver.Diagnoser)
		if !ok {
			return
		}
		for _, f := range d.Diagnose(ctx) {
			if !strings.HasPrefix(f.What, b.Name()) {
				f.What = b.Name() + ": " + f.What
			}
			h.Report(&hostmode.Event{Kind: hostmode.Found, Backend: b.Name(), Finding: &f})
		}
	})
}
