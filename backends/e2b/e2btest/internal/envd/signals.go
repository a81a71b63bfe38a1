//go:build !remotebox_runner

package envd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
	processpb "github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

// SendSignal reaches the process alone; its children become orphans.
func (ps *processes) SendSignal(ctx context.Context, req *connect.Request[processpb.SendSignalRequest]) (*connect.Response[processpb.SendSignalResponse], error) {
	p, err := ps.findRunning(req.Msg.GetProcess())
	if err != nil {
		return nil, err
	}
	var sig os.Signal
	switch req.Msg.GetSignal() {
	case processpb.Signal_SIGNAL_SIGTERM:
		sig = syscall.SIGTERM
	case processpb.Signal_SIGNAL_SIGKILL:
		sig = syscall.SIGKILL
	default:
		return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("invalid signal: %d", req.Msg.GetSignal()))
	}
	if err := p.proc.Signal(sig); err != nil {
		return nil, connect.NewError(connect.CodeInternal, fmt.Errorf("error sending signal: %w", err))
	}
	return connect.NewResponse(&processpb.SendSignalResponse{}), nil
}

func (ps *processes) Update(ctx context.Context, req *connect.Request[processpb.UpdateRequest]) (*connect.Response[processpb.UpdateResponse], error) {
	p, err := ps.findRunning(req.Msg.GetProcess())
	if err != nil {
		return nil, err
	}
	if size := req.Msg.GetPty().GetSize(); size != nil {
		if p.pty == nil {
			return nil, connect.NewError(connect.CodeInternal, errors.New("error resizing tty: tty not assigned to process"))
		}
		if err := jail.Resize(p.pty, size.GetCols(), size.GetRows()); err != nil {
			return nil, connect.NewError(connect.CodeInternal, fmt.Errorf("error resizing tty: %w", err))
		}
	}
	return connect.NewResponse(&processpb.UpdateResponse{}), nil
}

func (ps *processes) List(ctx context.Context, req *connect.Request[processpb.ListRequest]) (*connect.Response[processpb.ListResponse], error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	list := &processpb.ListResponse{}
	for _, pid := range slices.Sorted(maps.Keys(ps.table)) {
		if p := ps.table[pid]; !p.ended() {
			list.Processes = append(list.Processes, &processpb.ProcessInfo{Config: p.config, Pid: pid, Tag: p.tag})
		}
	}
	return connect.NewResponse(list), nil
}
