//go:build !remotebox_runner

package envd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"

	processpb "github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

// processes is the service process.Process.
type processes struct {
	server *Server

	mu    sync.Mutex
	table map[uint32]*process
}

// Start starts a process, which does not end with the stream. Only the deadline
// of the call, Connect-Timeout-Ms, ends both.
func (ps *processes) Start(ctx context.Context, req *connect.Request[processpb.StartRequest], stream *connect.ServerStream[processpb.StartResponse]) error {
	user, err := ps.server.rpcUser(req.Header())
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return streamError(err)
	}
	p, err := ps.server.launch(req.Msg, user, ps.server.environ(user, ps.server.cfg.UserEnv, req.Msg.GetProcess().GetEnvs()))
	if err != nil {
		return err
	}
	sub, _ := p.subscribe() // before anything reads, so that no output is lost
	defer p.leave(sub)
	if deadline, ok := ctx.Deadline(); ok {
		// Not stopped by the end of this stream: a client that left early left a
		// process that still has its deadline.
		p.killAt(deadline)
	}
	ps.adopt(p)
	return follow(ctx, req.Header(), p, sub, func(event *processpb.ProcessEvent) error {
		return stream.Send(&processpb.StartResponse{Event: event})
	})
}

// Connect listens to a process that was started before.
func (ps *processes) Connect(ctx context.Context, req *connect.Request[processpb.ConnectRequest], stream *connect.ServerStream[processpb.ConnectResponse]) error {
	p, err := ps.find(req.Msg.GetProcess())
	if err != nil {
		return err
	}
	sub, end := p.subscribe()
	send := func(event *processpb.ProcessEvent) error {
		return stream.Send(&processpb.ConnectResponse{Event: event})
	}
	if end != nil {
		if err := send(startEvent(p)); err != nil {
			return err
		}
		return send(end)
	}
	defer p.leave(sub)
	return follow(ctx, req.Header(), p, sub, send)
}

// follow sends the events of p until the end of the process or of ctx.
func follow(ctx context.Context, header http.Header, p *process, sub *subscriber, send func(*processpb.ProcessEvent) error) error {
	if err := send(startEvent(p)); err != nil {
		return err
	}
	keepalive := keepaliveInterval(header)
	ticker := time.NewTicker(keepalive)
	defer ticker.Stop()
	for {
		select {
		case event := <-sub.events:
			if deadline, ok := ctx.Deadline(); ok && event.GetEnd() != nil && !time.Now().Before(deadline) {
				// It was killed for that, and the client is to hear of the deadline.
				return streamError(context.DeadlineExceeded)
			}
			if err := send(event); err != nil {
				return err
			}
			if event.GetEnd() != nil {
				return nil
			}
			ticker.Reset(keepalive)
		case <-ticker.C:
			alive := &processpb.ProcessEvent{Event: &processpb.ProcessEvent_Keepalive{Keepalive: &processpb.ProcessEvent_KeepAlive{}}}
			if err := send(alive); err != nil {
				return err
			}
		case <-ctx.Done():
			return streamError(ctx.Err())
		}
	}
}

// keepaliveInterval is how long a stream may be silent.
func keepaliveInterval(header http.Header) time.Duration {
	if seconds, err := strconv.Atoi(header.Get("Keepalive-Ping-Interval")); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	return 90 * time.Second
}

func startEvent(p *process) *processpb.ProcessEvent {
	return &processpb.ProcessEvent{Event: &processpb.ProcessEvent_Start{Start: &processpb.ProcessEvent_StartEvent{Pid: p.pid}}}
}

func streamError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	return connect.NewError(connect.CodeCanceled, err)
}

// adopt lists p and follows it in the background.
func (ps *processes) adopt(p *process) {
	ps.mu.Lock()
	ps.table[p.pid] = p
	ps.mu.Unlock()
	ps.server.running.Go(func() {
		p.follow()
		forget := time.NewTimer(retention)
		defer forget.Stop()
		select {
		case <-forget.C:
		case <-ps.server.closing:
		}
		ps.mu.Lock()
		defer ps.mu.Unlock()
		if ps.table[p.pid] == p { // the number may have been used again
			delete(ps.table, p.pid)
		}
	})
}

// find looks a process up, one that has ended included. By tag it finds nothing
// when it comes across another tag first: envd has that bug, and a client must
// not depend on tags.
func (ps *processes) find(selector *processpb.ProcessSelector) (*process, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	switch by := selector.GetSelector().(type) {
	case *processpb.ProcessSelector_Pid:
		if p := ps.table[by.Pid]; p != nil {
			return p, nil
		}
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("process with pid %d not found", by.Pid))
	case *processpb.ProcessSelector_Tag:
		for _, p := range ps.table {
			if p.tag == nil {
				continue
			}
			if *p.tag == by.Tag {
				return p, nil
			}
			break
		}
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("process with tag %s not found", by.Tag))
	}
	return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("invalid selector type %T", selector.GetSelector()))
}

// findRunning is find without those that have ended.
func (ps *processes) findRunning(selector *processpb.ProcessSelector) (*process, error) {
	p, err := ps.find(selector)
	if err == nil && p.ended() {
		err = connect.NewError(connect.CodeNotFound, fmt.Errorf("process with pid %d not found", p.pid))
	}
	return p, err
}

// abandon kills what was started and lets go of its pipes. The jail kills the
// rest, but whoever it fails to find must not hold up the end.
func (ps *processes) abandon() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.table {
		p.proc.Kill()
		p.closeFiles()
	}
}
