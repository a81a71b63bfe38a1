//go:build !remotebox_runner

package envd

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	processpb "github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

// SendInput returns when the process's pipe has taken everything.
func (ps *processes) SendInput(ctx context.Context, req *connect.Request[processpb.SendInputRequest]) (*connect.Response[processpb.SendInputResponse], error) {
	p, err := ps.findRunning(req.Msg.GetProcess())
	if err != nil {
		return nil, err
	}
	if err := p.write(ctx, req.Msg.GetInput()); err != nil {
		return nil, err
	}
	return connect.NewResponse(&processpb.SendInputResponse{}), nil
}

// StreamInput is SendInput many times; its first message names the process.
func (ps *processes) StreamInput(ctx context.Context, stream *connect.ClientStream[processpb.StreamInputRequest]) (*connect.Response[processpb.StreamInputResponse], error) {
	var p *process
	for stream.Receive() {
		switch event := stream.Msg().GetEvent().(type) {
		case *processpb.StreamInputRequest_Start:
			found, err := ps.findRunning(event.Start.GetProcess())
			if err != nil {
				return nil, err
			}
			p = found
		case *processpb.StreamInputRequest_Data:
			if p == nil {
				return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("data before the start event"))
			}
			if err := p.write(ctx, event.Data.GetInput()); err != nil {
				return nil, err
			}
		}
	}
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return connect.NewResponse(&processpb.StreamInputResponse{}), nil
}

func (ps *processes) CloseStdin(ctx context.Context, req *connect.Request[processpb.CloseStdinRequest]) (*connect.Response[processpb.CloseStdinResponse], error) {
	p, err := ps.findRunning(req.Msg.GetProcess())
	if err != nil {
		return nil, err
	}
	if p.pty != nil {
		return nil, connect.NewError(connect.CodeInternal, errors.New("error closing stdin: cannot close stdin of a tty process"))
	}
	p.closeStdin()
	return connect.NewResponse(&processpb.CloseStdinResponse{}), nil
}
