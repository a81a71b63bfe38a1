package backendtest

import (
	"context"
	"io"
	"os"

	"github.com/remote-box/remote/driver"
)

// The parts are the optional interfaces of a sandbox without the methods that all sandboxes have.

type streamPart struct{}

func (streamPart) Streams() {}

type localPart struct{ l driver.Local }

func (p localPart) Streams() {}

func (p localPart) Spawn(cmd *driver.Command, files []*os.File) (driver.Process, error) {
	return p.l.Spawn(cmd, files)
}

func (p localPart) StateDir() string { return p.l.StateDir() }

type pausePart struct{ p driver.Pauser }

func (p pausePart) Pause(ctx context.Context) error  { return p.p.Pause(ctx) }
func (p pausePart) Resume(ctx context.Context) error { return p.p.Resume(ctx) }

type filePart struct{ f driver.Files }

func (p filePart) ReadFile(ctx context.Context, path string) (io.ReadCloser, error) {
	return p.f.ReadFile(ctx, path)
}

func (p filePart) WriteFile(ctx context.Context, path string, r io.Reader) error {
	return p.f.WriteFile(ctx, path, r)
}
