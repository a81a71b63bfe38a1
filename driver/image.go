package driver

import (
	"context"
	"io"
)

// Imaged is implemented by sandboxes that are made from an image.
type Imaged interface {
	Sandbox
	// Image is the image's name.
	Image() string
}

// Imager is implemented by backends whose sandboxes are made from images.
type Imager interface {
	Backend
	// Image describes the image of a program's sandboxes. It makes the runner if need be, but
	// asks no provider for anything.
	Image(ctx context.Context, p Program) (Image, error)
}

// Image is the image of a program on one backend, named by its content.
type Image interface {
	// Name is the image's name.
	Name() string
	// Parts is what its name is computed from, in a stable order: for people who ask why it has
	// changed. It holds no secrets.
	Parts() []Part
	// Ready asks the provider whether the image exists and can be used.
	Ready(ctx context.Context) (bool, error)
	// Build makes the image, writing what happens to log. It may be called by several programs at
	// once; an image that is there already is no error.
	Build(ctx context.Context, log io.Writer) error
}

// Part is one thing that decides an image's name.
type Part struct {
	Name  string `json:"name"`  // such as "runner", "dockerfile", "cpu", "file src/main.go"
	Value string `json:"value"` // a digest, or the value itself
}
