package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/subprocess"
	"github.com/remote-box/remote/driver"
)

// imaginary is a backend whose images exist in memory.
type imaginary struct {
	subprocess.Backend
	Named  string // the image's name
	Secret string // not part of the image
	*provider
}

// provider is where they exist.
type provider struct {
	mu      sync.Mutex
	images  map[string]bool
	builds  atomic.Int32
	begun   chan struct{} // gets one from each build, if it is not nil
	proceed chan struct{} // then builds wait until it is closed
}

func (imaginary) Name() string { return "imaginary" }

func (b imaginary) Image(context.Context, driver.Program) (driver.Image, error) {
	if b.Named == "unknown" {
		return nil, errors.New("nobody knows")
	}
	return imaginaryImage{b}, nil
}

type imaginaryImage struct{ imaginary }

func (i imaginaryImage) Name() string { return i.Named }

func (i imaginaryImage) Parts() []driver.Part {
	return []driver.Part{{Name: "size", Value: "1"}, {Name: driver.PrefixPart, Value: "p"}}
}

func (i imaginaryImage) Ready(context.Context) (bool, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.images[i.Named], nil
}

func (i imaginaryImage) Build(_ context.Context, log io.Writer) error {
	i.builds.Add(1)
	if i.begun != nil {
		i.begun <- struct{}{}
		<-i.proceed
	}
	io.WriteString(log, "first line\nthe sec")
	io.WriteString(log, "ond\nthe end")
	if i.Named == "refused" {
		return errors.New("it is refused")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.images[i.Named] = true
	return nil
}

var imagined = &provider{}

func imaginedOne(context.Context, int) (int, error)  { return 1, nil }
func imaginedTwo(context.Context, int) (int, error)  { return 2, nil }
func imaginedFour(context.Context, int) (int, error) { return 4, nil }
func imaginedFive(context.Context, int) (int, error) { return 5, nil }
func imaginedSix(context.Context, int) (int, error)  { return 6, nil }

var (
	_ = remote.New(imaginedOne, remote.On(imaginary{Named: "existing", provider: imagined}))
	_ = remote.New(imaginedTwo, remote.On(imaginary{Named: "missing", provider: imagined}))
	_ = remote.New(imaginedFour, remote.On(imaginary{Named: "missing", Secret: "s", provider: imagined}))
	_ = remote.New(imaginedFive, remote.On(imaginary{Named: "refused", provider: imagined}))
	_ = remote.New(imaginedSix, remote.On(imaginary{Named: "unknown", provider: imagined}))
)

// images are the statuses of the imaginary images, in the report's order.
func images(r remote.Report) []string {
	var all []string
	for _, i := range r.Images {
		if i.Backend == "imaginary" {
			var names []string
			for _, f := range i.Functions {
				names = append(names, f[strings.LastIndex(f, ".")+1:])
			}
			all = append(all, i.Image+" "+string(i.Status)+": "+strings.Join(names, " "))
		}
	}
	return all
}

// forget takes the provider back to its beginning.
func (p *provider) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.images = map[string]bool{"existing": true}
	p.builds.Store(0)
	p.begun = nil
}

func TestCheckAllThenBuildAll(t *testing.T) {
	imagined.forget()
	r, err := remote.CheckAll(t.Context(), remote.BuildOptions{})
	want := []string{
		" error: imaginedSix", "existing ready: imaginedOne", "missing would build: imaginedFour imaginedTwo", "refused would build: imaginedFive",
	}
	if got := images(r); !slices.Equal(got, want) {
		t.Errorf("CheckAll found %q, want %q", got, want)
	}
	if n := imagined.builds.Load(); n != 0 {
		t.Errorf("CheckAll built %d images", n)
	}
	missing, ok := errors.AsType[*remote.MissingImageError](err)
	if !ok || missing.Image != "missing" || !strings.Contains(err.Error(), "nobody knows") {
		t.Errorf("CheckAll's error is %v", err)
	}

	t.Setenv("REMOTE_BOX_AUTO_BUILD", "false")
	var log bytes.Buffer
	var done []string
	r, err = remote.BuildAll(t.Context(), remote.BuildOptions{Log: &log, Done: func(i remote.ImageReport) {
		done = append(done, images(remote.Report{Images: []remote.ImageReport{i}})...)
	}})
	want = []string{
		" error: imaginedSix", "existing ready: imaginedOne", "missing built: imaginedFour imaginedTwo", "refused error: imaginedFive",
	}
	if got := images(r); !slices.Equal(got, want) || !slices.Equal(done, want) {
		t.Errorf("BuildAll found %q and said %q, want %q", got, done, want)
	}
	if n := imagined.builds.Load(); n != 2 {
		t.Errorf("BuildAll built %d images, want 2", n)
	}
	if err == nil || !strings.Contains(err.Error(), "it is refused") || strings.Contains(err.Error(), "existing") {
		t.Errorf("BuildAll's error is %v", err)
	}
	for _, line := range []string{"missing: first line\n", "missing: the second\n", "missing: the end\n", "refused: the end\n"} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the log lacks %q:\n%s", line, &log)
		}
	}

	// The lock has what is ready, and no runners of backends without images.
	locked := r.Lock().Images
	if len(locked) != 2 || locked[1].Image != "missing" || locked[1].Prefix != "p" || len(locked[1].Parts) != 1 {
		t.Errorf("the lock has %+v", locked)
	}
	if r, _ := remote.CheckAll(t.Context(), remote.BuildOptions{}); images(r)[2] != "missing ready: imaginedFour imaginedTwo" {
		t.Errorf("after BuildAll, CheckAll found %q", images(r))
	}
}

func TestBuildAllRunsJobsAtOnce(t *testing.T) {
	imagined.forget()
	imagined.begun, imagined.proceed = make(chan struct{}), make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		remote.BuildAll(t.Context(), remote.BuildOptions{Jobs: 2})
	}()
	// The second begins while the first waits, or this waits for ever.
	<-imagined.begun
	<-imagined.begun
	close(imagined.proceed)
	<-ended
	imagined.begun = nil
	if n := imagined.builds.Load(); n != 2 {
		t.Errorf("%d images were built, want 2", n)
	}
}
