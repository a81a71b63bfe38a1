//go:build !remotebox_runner

package docker

import (
	"context"
	"io"
	"path/filepath"

	"github.com/containerd/platforms"
	bk "github.com/moby/buildkit/client"
	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/exporter/containerimage/exptypes"
	gateway "github.com/moby/buildkit/frontend/gateway/client"
	"github.com/tonistiigi/fsutil"
)

// The names under which a builder asks for files.
const (
	sendContext    = "context"
	sendDockerfile = "dockerfile"
	sendOurs       = "remote-box"
)

// Build implements driver.Image.
func (i *builtImage) Build(ctx context.Context, log io.Writer) error {
	e, err := i.backend.connect(ctx)
	if err != nil {
		return err
	}
	defer e.close()
	b, err := e.builder(ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	send, err := i.send()
	if err != nil {
		return err
	}
	p := watch(log)
	var failed failure // before it has been to the builder and back
	err = b.solve(ctx, i.Name(), func(ctx context.Context, export bk.ExportEntry) error {
		_, err := b.Build(ctx, bk.SolveOpt{
			Exports:        []bk.ExportEntry{export},
			LocalMounts:    send,
			LocalFilterOpt: everything,
			// A builder keeps what it was sent, and compares no content: it must not mistake
			// another version's files for these.
			SharedKey: i.image.Identity,
			FrontendAttrs: map[string]string{
				"filename": dockerfileName,
				"platform": platforms.Format(i.platform),
			},
			Session: credentials(),
		}, "remote-box", func(ctx context.Context, c gateway.Client) (*gateway.Result, error) {
			res, def, err := i.steps(ctx, c)
			failed = failure{err, def}
			return res, err
		}, p.status)
		return err
	})
	p.wait()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return i.buildError(e.explain(err), failed, p)
}

// dockerfileName is the Dockerfile's name among what is sent.
const dockerfileName = "Dockerfile"

// send collects what a builder may ask for.
func (i *builtImage) send() (map[string]fsutil.FS, error) {
	ours, err := newFiles(), error(nil)
	if i.image.Context == nil {
		if ours, err = base(); err != nil {
			return nil, err
		}
	} else {
		ours.add("tmp", tmpMode, 0)
	}
	if err := ours.disk(runnerPath[1:], 0o755, i.image.Runner); err != nil {
		return nil, err
	}
	send := map[string]fsutil.FS{sendOurs: ours.inWalkOrder()}
	if i.image.Context != nil {
		d := newFiles()
		d.file(dockerfileName, 0o644, i.image.Dockerfile)
		send[sendDockerfile] = d.inWalkOrder()
		send[sendContext] = contextTree(i.image.Context)
	}
	return send, nil
}

// everything undoes the frontend's reading of .dockerignore: what it excludes is left out of the
// tree already, and nothing else may be missing.
func everything(name string, opt *fsutil.FilterOpt) error {
	if name == sendContext {
		opt.ExcludePatterns = nil
	}
	return nil
}

// steps makes the image: what the Dockerfile makes, or our ground, and our files on top of it. The
// definition is what the builder is asked for, as soon as that is known.
func (i *builtImage) steps(ctx context.Context, c gateway.Client) (res *gateway.Result, def *llb.Definition, err error) {
	st, config := ground(), []byte(nil)
	if i.image.Context != nil {
		if st, config, err = i.dockerfile(ctx, c); err != nil {
			return nil, nil, err
		}
	}
	if config, err = i.config(config); err != nil {
		return nil, nil, err
	}
	ours := llb.Local(sendOurs, llb.SharedKeyHint(i.image.Identity), llb.WithCustomName("[remote-box] load the runner"))
	st = st.File(llb.Copy(ours, "/", "/", &llb.CopyInfo{CopyDirContentsOnly: true, CreateDestPath: true}),
		llb.WithCustomName("[remote-box] COPY "+runnerPath))
	if def, err = st.Marshal(ctx, llb.Platform(i.platform)); err != nil {
		return nil, nil, err
	}
	res, err = c.Solve(ctx, gateway.SolveRequest{Definition: def.ToPB(), Evaluate: true})
	if err != nil {
		return nil, def, err
	}
	res.AddMeta(exptypes.ExporterImageConfigKey, config)
	return res, def, nil
}

// what is built, for messages.
func (i *builtImage) what() string {
	if i.image.Context == nil {
		return "the image " + i.Name()
	}
	if rel, err := filepath.Rel(i.image.Root, i.image.DockerfilePath); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return i.image.DockerfilePath
}
