//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/remote-box/remote"
)

// submit uploads what the snapshot is built from and asks for the build.
func (s *snapshot) submit(ctx context.Context, a *api, log io.Writer) error {
	dockerfile, err := assemble(s.image.Dockerfile, s.backend.baseImage())
	if err != nil {
		failed := &remote.BuildError{What: s.dockerfileName(), Err: err}
		if at, ok := errors.AsType[*lineError](err); ok {
			failed.Line = at.line
		}
		return failed
	}
	store, err := a.storage(ctx)
	if err != nil {
		return err
	}
	runner, err := runnerArchive(ctx, s.image.Runner)
	if err != nil {
		return err
	}
	archives := []*archive{runner}
	if s.image.Context != nil {
		files, left, err := contextArchive(ctx, s.image.Context)
		if err != nil {
			return fmt.Errorf("daytona: %w", err)
		}
		if files != nil {
			archives = append(archives, files)
		}
		for _, what := range left {
			fmt.Fprintf(log, "left out of the build context: %s\n", what)
		}
		for _, name := range s.image.Context.Withheld() {
			fmt.Fprintf(log, "left out of the build context, because it may hold a secret: %s\n", name)
		}
	}
	build := &buildInfo{Dockerfile: dockerfile}
	for _, archive := range archives {
		if err := store.put(ctx, archive, log); err != nil {
			return err
		}
		build.ContextHashes = append(build.ContextHashes, archive.sum)
	}
	req := s.backend.snapshotRequest(s.Name(), a.target)
	req.BuildInfo = build
	fmt.Fprintf(log, "building the snapshot %s\n", s.Name())
	return a.submit(ctx, req)
}
