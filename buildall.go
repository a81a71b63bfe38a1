package remote

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/remote-box/remote/driver"
)

// ImageStatus says what became of an image.
type ImageStatus string

// What can become of an image.
const (
	ImageReady   ImageStatus = "ready"       // it existed, and can be used
	ImageBuilt   ImageStatus = "built"       // it was built now
	ImageMissing ImageStatus = "would build" // it does not exist, and nothing was to be built
	ImageFailed  ImageStatus = "error"
)

// Report is what BuildAll and CheckAll found, an entry for each image.
type Report struct {
	Images []ImageReport // sorted by program, backend and image
}

// ImageReport is about one image, or, for functions on a backend that has none, their runner.
type ImageReport struct {
	Status    ImageStatus
	Program   string // its module, or "main:" and its main package
	Backend   string
	Prefix    string        // under which locks list the image
	Image     string        // "" if its name could not be computed, or if Local
	Local     bool          // the backend has no images; what was made is a runner
	Functions []string      // identities
	Parts     []driver.Part // what the name is made of
	Took      time.Duration
	Err       error // why the status is ImageFailed, or a *MissingImageError
}

// BuildOptions are for BuildAll and CheckAll. The zero value is the default.
type BuildOptions struct {
	// Jobs is how many images are worked on at once; 0 means 4.
	Jobs int
	// Log receives what builds say, a line at a time with its image's name before it. Nil discards.
	Log io.Writer
	// Done is called with the report of each image, in the report's order, as soon as it and those
	// before it are known; one call at a time. Nil means not.
	Done func(ImageReport)
}

// BuildAll builds the images of all functions that are registered in this process, those that
// are missing, whatever REMOTE_BOX_AUTO_BUILD and the backends' AutoBuild say. It is what
// `remote-box build` does, but for the lock file. One image that fails does not stop the others;
// the error joins those of all images, and is nil if every one is ready. No registered function
// at all is an error.
func BuildAll(ctx context.Context, o BuildOptions) (Report, error) {
	return surveyAll(ctx, o, false)
}

// CheckAll looks whether the images of all registered functions exist, and builds none. The error
// holds a *MissingImageError for each that does not. Names follow from the sources, so that
// runners are compiled if need be; that happens on this host only.
func CheckAll(ctx context.Context, o BuildOptions) (Report, error) {
	return surveyAll(ctx, o, true)
}

var errNothingRegistered = errors.New("no function is registered in this program; import the packages that do it")

// Lock is the lock of the report's images, those that are ready.
func (r Report) Lock() *Lock {
	l := &Lock{}
	for _, i := range r.Images {
		if !i.Local && (i.Status == ImageReady || i.Status == ImageBuilt) {
			l.Images = append(l.Images, LockedImage{Program: i.Program, Backend: i.Backend, Prefix: i.Prefix, Image: i.Image, Parts: lockedParts(i.Parts)})
		}
	}
	return l
}

// lockedParts are the parts without the prefix, which has a place of its own in a lock.
func lockedParts(parts []driver.Part) []driver.Part {
	var kept []driver.Part
	for _, p := range parts {
		if p.Name != driver.PrefixPart {
			kept = append(kept, p)
		}
	}
	return kept
}
