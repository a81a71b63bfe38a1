//go:build !remotebox_runner

package docker

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	bk "github.com/moby/buildkit/client"
	"github.com/moby/moby/client"
	"golang.org/x/sync/errgroup"
)

// builderVariable names a BuildKit to build with, instead of the engine's own.
const builderVariable = "BUILDKIT_HOST"

// builder is a BuildKit, and the engine that gets what it makes.
type builder struct {
	*bk.Client
	engine   *engine
	separate bool // it is not the engine's own, so that images have to be carried over
}

func (e *engine) builder(ctx context.Context) (*builder, error) {
	if host := os.Getenv(builderVariable); host != "" {
		c, err := bk.New(ctx, host)
		if err != nil {
			return nil, fmt.Errorf("docker: %s: %s: %w", builderVariable, host, err)
		}
		return &builder{c, e, true}, nil
	}
	c, err := bk.New(ctx, "",
		bk.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return e.DialHijack(ctx, "/grpc", "h2c", nil)
		}),
		bk.WithSessionDialer(func(ctx context.Context, proto string, meta map[string][]string) (net.Conn, error) {
			return e.DialHijack(ctx, "/session", proto, meta)
		}))
	if err != nil {
		return nil, e.explain(err)
	}
	return &builder{c, e, false}, nil
}

// export says where a build's image goes. carry has to be called while the build runs, and
// returns when the engine has the image.
func (b *builder) export(name string) (entry bk.ExportEntry, carry func(ctx context.Context) error) {
	if !b.separate {
		return bk.ExportEntry{Type: "moby", Attrs: map[string]string{"name": name}}, func(context.Context) error { return nil }
	}
	r, w := io.Pipe()
	entry = bk.ExportEntry{
		Type: bk.ExporterDocker, Attrs: map[string]string{"name": name},
		Output: func(map[string]string) (io.WriteCloser, error) { return w, nil },
	}
	return entry, func(ctx context.Context) error {
		stop := context.AfterFunc(ctx, func() { r.CloseWithError(ctx.Err()) })
		defer stop()
		loaded, err := b.engine.ImageLoad(ctx, r, client.ImageLoadWithQuiet(true))
		if err != nil {
			return b.engine.explain(err)
		}
		defer loaded.Close()
		_, err = io.Copy(io.Discard, loaded)
		return err
	}
}

// solve runs a build and brings its image to the engine.
func (b *builder) solve(ctx context.Context, name string, run func(context.Context, bk.ExportEntry) error) error {
	entry, carry := b.export(name)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return run(ctx, entry) })
	group.Go(func() error { return carry(ctx) })
	return group.Wait()
}
