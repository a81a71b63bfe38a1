//go:build !remotebox_runner

package e2b

import (
	"context"
	"encoding/base64"
	"fmt"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

// postCreate starts PostCreateCmd beside whatever comes first in a new sandbox. That it could not
// be started is only reported: the sandbox works without it.
func (s *sandbox) postCreate() {
	if s.c.PostCreateCmd == "" {
		return
	}
	s.posted = make(chan struct{})
	s.work.Go(func() {
		defer close(s.posted)
		if err := s.startPostCreate(s.closing); err != nil && s.closing.Err() == nil {
			fmt.Fprintf(s.c.log, "e2b: starting PostCreateCmd in sandbox %s: %v\n", s.id, err)
		}
	})
}

// startPostCreate returns once the command runs. It goes on without anybody who listens (envd,
// process start).
func (s *sandbox) startPostCreate(ctx context.Context) error {
	req := connect.NewRequest(&process.StartRequest{
		Process: &process.ProcessConfig{Cmd: "/bin/bash", Args: []string{"-l", "-c", s.c.PostCreateCmd}},
		Stdin:   new(false),
	})
	req.Header().Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("root:")))
	return s.deliveredOnce(ctx, func() error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		stream, err := s.envd.process.Start(ctx, req)
		if err != nil {
			return err
		}
		defer stream.Close()
		for stream.Receive() {
			if stream.Msg().GetEvent().GetStart() != nil {
				return nil
			}
		}
		return stream.Err()
	})
}
