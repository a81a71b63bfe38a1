//go:build !remotebox_runner

package envd

import (
	"context"
	"fmt"

	processpb "github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

// Run runs a shell command as the template builder does: through a login shell,
// without stdin. It reports the output in pieces and returns how the command
// ended, "" for success. When ctx ends, so does the command's leader.
func (s *Server) Run(ctx context.Context, user, dir, command string, env map[string]string, output func(stderr bool, text []byte)) (status string, err error) {
	p, err := s.start(user, dir, command, env)
	if err != nil {
		return "", err
	}
	sub, _ := p.subscribe()
	defer p.leave(sub)
	s.processes.adopt(p)
	for {
		select {
		case event := <-sub.events:
			if end := event.GetEnd(); end != nil {
				return end.GetError(), nil
			}
			if output != nil {
				data := event.GetData()
				if len(data.GetStdout()) > 0 {
					output(false, data.GetStdout())
				}
				if len(data.GetStderr()) > 0 {
					output(true, data.GetStderr())
				}
			}
		case <-ctx.Done():
			p.proc.Kill()
			return "", ctx.Err()
		}
	}
}

// Spawn starts a command of the template, whose output nobody sees.
func (s *Server) Spawn(user, dir, command string, env map[string]string) error {
	p, err := s.start(user, dir, command, env)
	if err != nil {
		return err
	}
	s.processes.adopt(p)
	return nil
}

func (s *Server) start(user, dir, command string, env map[string]string) (*process, error) {
	select {
	case <-s.closing:
		return nil, fmt.Errorf("envd: closed")
	default:
	}
	account, err := s.user(user)
	if err != nil {
		return nil, err
	}
	config := &processpb.ProcessConfig{Cmd: "/bin/bash", Args: []string{"-l", "-c", command}}
	if dir != "" {
		config.Cwd = &dir
	}
	return s.launch(&processpb.StartRequest{Process: config, Stdin: new(false)}, account, s.environ(account, env))
}
