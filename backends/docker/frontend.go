//go:build !remotebox_runner

package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/exporter/containerimage/exptypes"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerui"
	gateway "github.com/moby/buildkit/frontend/gateway/client"
)

// The Dockerfile frontend is linked in here, so that a Dockerfile means the same whatever the
// age of the engine. It stands for the stable one that a "# syntax" line may ask for, which else is
// an image to be fetched; other frontends are fetched.

// stableSyntax are the names of the frontend that is linked in.
var stableSyntax = regexp.MustCompile(`^(docker\.io/)?docker/dockerfile(:(1|1\.[0-9]+|1\.[0-9]+\.[0-9]+|latest))?$`)

// dockerfile turns the Dockerfile into what a builder is asked for, and its image's configuration.
func (i *builtImage) dockerfile(ctx context.Context, c gateway.Client) (st llb.State, config []byte, err error) {
	if ref, cmdline, _, ok := parser.DetectSyntax(i.image.Dockerfile); ok && !stableSyntax.MatchString(ref) {
		return foreign(ctx, c, ref, cmdline)
	}
	ui, err := dockerui.NewClient(c)
	if err != nil {
		return st, nil, err
	}
	res, err := dockerfile2llb.Dockerfile2LLB(ctx, i.image.Dockerfile, dockerfile2llb.ConvertOpt{
		Config: ui.Config, Client: ui, MetaResolver: c, TargetPlatform: &i.platform,
		SourceMap: llb.NewSourceMap(nil, dockerfileName, "Dockerfile", i.image.Dockerfile),
	})
	if err != nil {
		return st, nil, err
	}
	config, err = json.Marshal(res.Image)
	return res.State, config, err
}

// foreign runs another frontend, an image.
func foreign(ctx context.Context, c gateway.Client, ref, cmdline string) (st llb.State, config []byte, err error) {
	opts := map[string]string{}
	for k, v := range c.BuildOpts().Opts {
		opts[k] = v
	}
	opts["source"], opts["cmdline"] = ref, cmdline
	res, err := c.Solve(ctx, gateway.SolveRequest{Frontend: "gateway.v0", FrontendOpt: opts})
	if err != nil {
		return st, nil, fmt.Errorf("the Dockerfile frontend %s: %w", ref, err)
	}
	made, err := res.SingleRef()
	if err != nil {
		return st, nil, err
	}
	if st, err = made.ToState(); err != nil {
		return st, nil, fmt.Errorf("the builder is too old to add to what %s makes: %w", ref, err)
	}
	return st, res.Metadata[exptypes.ExporterImageConfigKey], nil
}
