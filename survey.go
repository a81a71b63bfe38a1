//go:build !remotebox_runner

package remote

import (
	"cmp"
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/registry"
)

// defaultJobs is how many images are worked on at once where nothing else is said.
const defaultJobs = 4

func surveyAll(ctx context.Context, o BuildOptions, check bool) (Report, error) {
	fs := registry.All()
	if len(fs) == 0 {
		return Report{}, errNothingRegistered
	}
	s := survey{jobs: o.Jobs, check: check, done: o.Done}
	if o.Log != nil {
		lines := &sharedLines{w: o.Log}
		s.log = func(i *ImageReport) io.WriteCloser { return &lineWriter{prefix: i.Image + ": ", to: lines} }
	}
	r := s.run(ctx, fs)
	var errs []error
	for _, i := range r.Images {
		errs = append(errs, i.Err)
	}
	return r, errors.Join(errs...)
}

// survey looks at the images of functions, and builds those that are missing unless it only checks.
type survey struct {
	jobs  int
	check bool
	begin func(*ImageReport)                // a build begins; may be nil
	log   func(*ImageReport) io.WriteCloser // for what it says; may be nil
	done  func(ImageReport)                 // in order; may be nil
}

// surveyed is an image that is being looked at.
type surveyed struct {
	ImageReport
	program *program
	backend driver.Backend
	image   driver.Image // nil if there is none
}

func (s *survey) run(ctx context.Context, fs []*registry.Function) Report {
	images := s.describe(ctx, fs)
	done := make([]chan struct{}, len(images))
	for i := range done {
		done[i] = make(chan struct{})
	}
	go s.parallel(len(images), func(i int) {
		defer close(done[i])
		s.settle(ctx, images[i])
	})
	var r Report
	for i, img := range images {
		<-done[i]
		r.Images = append(r.Images, img.ImageReport)
		if s.done != nil {
			s.done(img.ImageReport)
		}
	}
	return r
}

// parallel calls f for 0 to n-1, some at once, in this order.
func (s *survey) parallel(n int, f func(int)) {
	jobs := s.jobs
	if jobs <= 0 {
		jobs = defaultJobs
	}
	slots := make(chan struct{}, jobs)
	var wg sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wg.Wait()
}

// describe finds the images of fs: functions of one program whose backend values are equal, or
// lead to the same name, share one.
func (s *survey) describe(ctx context.Context, fs []*registry.Function) []*surveyed {
	all := group(fs)
	s.parallel(len(all), func(i int) {
		start := time.Now()
		all[i].describe(ctx)
		all[i].Took = time.Since(start)
	})
	var images []*surveyed
	for _, g := range all {
		same := slices.IndexFunc(images, func(o *surveyed) bool { return o.sameImage(g) })
		if same < 0 {
			images = append(images, g)
			continue
		}
		images[same].Functions = append(images[same].Functions, g.Functions...)
		images[same].Took += g.Took
	}
	for _, i := range images {
		slices.Sort(i.Functions)
	}
	slices.SortStableFunc(images, func(a, b *surveyed) int {
		return cmp.Or(cmp.Compare(a.Program, b.Program), cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Image, b.Image), slices.Compare(a.Functions, b.Functions))
	})
	return images
}

// group puts functions together whose program and backend value are the same.
func group(fs []*registry.Function) []*surveyed {
	var all []*surveyed
	of := map[string]*program{} // one for each, so that its runner is made once
	for _, f := range fs {
		p := &program{f}
		root, _ := p.Root()
		key := p.Name() + "\x00" + root + "\x00" + f.Root
		if of[key] == nil {
			of[key] = p
		}
		p = of[key]
		b := backendOf(f)
		i := slices.IndexFunc(all, func(g *surveyed) bool { return g.program == p && reflect.DeepEqual(g.backend, b) })
		if i < 0 {
			i = len(all)
			all = append(all, &surveyed{program: p, backend: b, ImageReport: ImageReport{Program: p.Name(), Backend: b.Name()}})
		}
		all[i].Functions = append(all[i].Functions, f.ID())
	}
	return all
}

// backendOf is the backend value that a function was registered with.
func backendOf(f *registry.Function) driver.Backend {
	if b, ok := f.Backend.(driver.Backend); ok {
		return b
	}
	return defaultBackend()
}

func (i *surveyed) sameImage(o *surveyed) bool {
	return i.program == o.program && i.Backend == o.Backend && i.Image == o.Image && i.Prefix == o.Prefix && i.Err == nil && o.Err == nil && i.Local == o.Local
}

// describe computes the image, for which the runner is made, and asks no provider.
func (i *surveyed) describe(ctx context.Context) {
	switch b := i.backend.(type) {
	case driver.Imager:
		img, err := b.Image(ctx, i.program)
		if err != nil {
			i.fail(err)
			return
		}
		i.image, i.Image, i.Parts = img, img.Name(), img.Parts()
		for _, p := range i.Parts {
			if p.Name == driver.PrefixPart {
				i.Prefix = p.Value
			}
		}
	case driver.Targeted:
		// There is nothing that could be missing but a runner that compiles.
		i.Local, i.Status = true, ImageReady
		if _, err := i.program.Runner(ctx, b.Target()); err != nil {
			i.fail(err)
		}
	default:
		i.Local, i.Status = true, ImageReady
	}
}

func (i *surveyed) fail(err error) { i.Status, i.Err = ImageFailed, err }

// settle finds out whether the image is there, and builds it if it is not and may be.
func (s *survey) settle(ctx context.Context, i *surveyed) {
	start := time.Now()
	defer func() { i.Took += time.Since(start) }()
	if i.image == nil {
		return
	}
	ready, err := i.image.Ready(ctx)
	switch {
	case err != nil:
		i.fail(err)
	case ready:
		i.Status = ImageReady
	case s.check:
		i.Status, i.Err = ImageMissing, &MissingImageError{Backend: i.Backend, Image: i.Image}
	default:
		s.build(ctx, i)
	}
}

func (s *survey) build(ctx context.Context, i *surveyed) {
	if s.begin != nil {
		s.begin(&i.ImageReport)
	}
	log := io.Discard
	if s.log != nil {
		w := s.log(&i.ImageReport)
		defer w.Close()
		log = w
	}
	err := i.image.Build(ctx, log)
	if err != nil && ctx.Err() == nil {
		// Somebody else may have built it meanwhile.
		if ready, readyErr := i.image.Ready(ctx); readyErr == nil && ready {
			i.Status = ImageReady
			return
		}
	}
	if err != nil {
		i.fail(err)
		return
	}
	i.Status = ImageBuilt
}
