//go:build !remotebox_runner

package envd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
	processpb "github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

type output struct {
	file  *os.File
	chunk int
	event func(data []byte) *processpb.ProcessEvent_DataEvent
}

// connectFiles makes the pipes or the terminal. Files of the process's side are
// added to theirs.
func (s *Server) connectFiles(p *process, request *processpb.StartRequest, command *jail.Command, theirs *[]*os.File) error {
	if request.Pty != nil {
		size := request.GetPty().GetSize()
		master, slave, err := s.cfg.Jail.OpenPTY(size.GetCols(), size.GetRows())
		if err != nil {
			return err
		}
		*theirs = append(*theirs, slave)
		p.pty = master
		command.Stdin, command.Stdout, command.Stderr, command.Terminal = slave, slave, slave, true
		p.outputs = []output{{master, ptyChunk, func(data []byte) *processpb.ProcessEvent_DataEvent {
			return &processpb.ProcessEvent_DataEvent{Output: &processpb.ProcessEvent_DataEvent_Pty{Pty: data}}
		}}}
		return nil
	}
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err != nil {
			return nil, nil, err
		}
		return r, w, nil
	}
	if request.Stdin == nil || *request.Stdin { // absent: an open pipe, as it was in old versions
		r, w, err := pipe()
		if err != nil {
			return err
		}
		*theirs = append(*theirs, r)
		command.Stdin, p.stdin = r, w
	}
	r, w, err := pipe()
	if err != nil {
		return err
	}
	*theirs = append(*theirs, w)
	command.Stdout = w
	p.outputs = append(p.outputs, output{r, outputChunk, func(data []byte) *processpb.ProcessEvent_DataEvent {
		return &processpb.ProcessEvent_DataEvent{Output: &processpb.ProcessEvent_DataEvent_Stdout{Stdout: data}}
	}})
	if r, w, err = pipe(); err != nil {
		return err
	}
	*theirs = append(*theirs, w)
	command.Stderr = w
	p.outputs = append(p.outputs, output{r, outputChunk, func(data []byte) *processpb.ProcessEvent_DataEvent {
		return &processpb.ProcessEvent_DataEvent{Output: &processpb.ProcessEvent_DataEvent_Stderr{Stderr: data}}
	}})
	return nil
}

func (p *process) closeStdin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stdin != nil {
		p.stdin.Close()
		p.stdin = nil
	}
}

func (p *process) closeFiles() {
	p.closeStdin()
	for _, out := range p.outputs {
		out.file.Close()
	}
}

// write hands data to the process and blocks until it was taken, or ctx ends: a
// stopped process takes nothing.
func (p *process) write(ctx context.Context, in *processpb.ProcessInput) error {
	p.input.Lock()
	defer p.input.Unlock()
	p.mu.Lock()
	stdin, pty := p.stdin, p.pty
	p.mu.Unlock()
	for _, file := range []*os.File{stdin, pty} {
		if file != nil {
			file.SetWriteDeadline(time.Time{})
			stop := context.AfterFunc(ctx, func() { file.SetWriteDeadline(time.Unix(1, 0)) })
			defer stop()
		}
	}
	var err error
	switch in := in.GetInput().(type) {
	case *processpb.ProcessInput_Pty:
		if pty == nil {
			return connect.NewError(connect.CodeInternal, errors.New("error writing to tty: tty not assigned to process"))
		}
		if _, err = pty.Write(in.Pty); err != nil {
			err = fmt.Errorf("error writing to tty: %w", err)
		}
	case *processpb.ProcessInput_Stdin:
		if stdin == nil {
			return connect.NewError(connect.CodeInternal, errors.New("error writing to stdin: stdin not enabled or closed"))
		}
		if _, err = stdin.Write(in.Stdin); err != nil {
			// Closed: by the end of the process, while this was under way.
			if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
				err = errors.New("broken pipe")
			}
			err = fmt.Errorf("error writing to stdin: %w", err)
		}
	default:
		return connect.NewError(connect.CodeUnimplemented, fmt.Errorf("invalid input type %T", in))
	}
	if err != nil {
		return connect.NewError(connect.CodeInternal, err)
	}
	return nil
}
