// Package fakeimage is a backend with images that needs nothing: an image is a directory with a
// runner below the one that FAKE_IMAGES names, a sandbox a process of this host that is started
// from it.
package fakeimage

import "github.com/remote-box/remote/driver"

// Backend makes sandboxes from such images.
type Backend struct {
	Prefix     string            // of image names; "fake" when empty
	Dockerfile string            // its context is the module
	CPU        string            // part of the image
	Platform   string            // part of the image; the runner is the host's all the same
	Env        map[string]string // of sandboxes
	Pinned     string            // an image's name
	AutoBuild  *bool
	NeedsKey   bool // FAKE_API_KEY must be set
	Build      driver.Build
}

// Name implements driver.Backend.
func (Backend) Name() string { return "fake" }
