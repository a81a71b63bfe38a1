package driver

import (
	"context"
	"time"
)

// PrefixPart is the name of the part that is the prefix under which locks list an image. It stands
// beside what an image's name is computed from.
const PrefixPart = "prefix"

// Targeted is implemented by backends without images that know beforehand which platform their
// runners are for, so that `remote-box build` can see to it that one can be built.
type Targeted interface {
	Backend
	Target() Target
}

// ImageStore is implemented by backends whose images can be listed and removed, for
// `remote-box prune`.
type ImageStore interface {
	Backend
	// Images lists the images that remote-box made under the backend value's prefix, and no others.
	Images(ctx context.Context) ([]StoredImage, error)
	// RemoveImage removes one of them. One that is gone is no error; one that a sandbox was made
	// from and still needs is.
	RemoveImage(ctx context.Context, name string) error
}

// StoredImage is an image at its provider.
type StoredImage struct {
	Name    string    `json:"name"`
	Program string    `json:"program,omitempty"` // that it was made for, where the provider keeps such things
	Created time.Time `json:"created,omitzero"`
	Size    int64     `json:"size,omitempty"` // bytes, or 0 if unknown
}

// Diagnoser is implemented by backends that can say what is wrong with them, for
// `remote-box doctor`.
type Diagnoser interface {
	Backend
	// Diagnose looks at what the backend value needs: an engine, credentials, a provider that can
	// be reached. It changes nothing.
	Diagnose(ctx context.Context) []Finding
}

// Finding is one thing that was looked at. It holds no secrets.
type Finding struct {
	What    string `json:"what"`              // "Docker Engine 28.1 at /run/docker.sock"
	Problem string `json:"problem,omitempty"` // what is wrong with it, or ""
	Mend    string `json:"mend,omitempty"`    // the command or the setting that mends it
}
