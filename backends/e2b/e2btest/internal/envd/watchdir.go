//go:build !remotebox_runner

package envd

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"

	filesystempb "github.com/remote-box/remote/backends/e2b/internal/envdpb/filesystem"
)

// WatchDir streams events until the client leaves.
func (f *files) WatchDir(ctx context.Context, req *connect.Request[filesystempb.WatchDirRequest], stream *connect.ServerStream[filesystempb.WatchDirResponse]) error {
	events := make(chan *filesystempb.FilesystemEvent)
	left := make(chan struct{})
	watch, done, err := f.server.watchers.open(req, req.Msg, func(event *filesystempb.FilesystemEvent) {
		select {
		case events <- event:
		case <-left:
		case <-f.server.closing:
		}
	})
	if err != nil {
		return err
	}
	defer func() {
		close(left)
		watch.Close()
		<-done
	}()
	start := &filesystempb.WatchDirResponse{Event: &filesystempb.WatchDirResponse_Start{Start: &filesystempb.WatchDirResponse_StartEvent{}}}
	if err := stream.Send(start); err != nil {
		return err
	}
	interval := keepaliveInterval(req.Header())
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case event := <-events:
			if err := stream.Send(&filesystempb.WatchDirResponse{Event: &filesystempb.WatchDirResponse_Filesystem{Filesystem: event}}); err != nil {
				return err
			}
			ticker.Reset(interval)
		case <-ticker.C:
			alive := &filesystempb.WatchDirResponse{Event: &filesystempb.WatchDirResponse_Keepalive{Keepalive: &filesystempb.WatchDirResponse_KeepAlive{}}}
			if err := stream.Send(alive); err != nil {
				return err
			}
		case <-ctx.Done():
			return streamError(ctx.Err())
		}
	}
}

func (f *files) CreateWatcher(ctx context.Context, req *connect.Request[filesystempb.CreateWatcherRequest]) (*connect.Response[filesystempb.CreateWatcherResponse], error) {
	w := &watcher{}
	watch, _, err := f.server.watchers.open(req, req.Msg, func(event *filesystempb.FilesystemEvent) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, event)
	})
	if err != nil {
		return nil, err
	}
	w.watch = watch
	id := "w" + strings.ToLower(rand.Text())
	f.server.watchers.mu.Lock()
	defer f.server.watchers.mu.Unlock()
	f.server.watchers.table[id] = w
	return connect.NewResponse(&filesystempb.CreateWatcherResponse{WatcherId: id}), nil
}

func (f *files) GetWatcherEvents(ctx context.Context, req *connect.Request[filesystempb.GetWatcherEventsRequest]) (*connect.Response[filesystempb.GetWatcherEventsResponse], error) {
	f.server.watchers.mu.Lock()
	w := f.server.watchers.table[req.Msg.GetWatcherId()]
	f.server.watchers.mu.Unlock()
	if w == nil {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("watcher with id %s not found", req.Msg.GetWatcherId()))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.events
	w.events = nil
	return connect.NewResponse(&filesystempb.GetWatcherEventsResponse{Events: events}), nil
}

func (f *files) RemoveWatcher(ctx context.Context, req *connect.Request[filesystempb.RemoveWatcherRequest]) (*connect.Response[filesystempb.RemoveWatcherResponse], error) {
	f.server.watchers.mu.Lock()
	defer f.server.watchers.mu.Unlock()
	w := f.server.watchers.table[req.Msg.GetWatcherId()]
	if w == nil {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("watcher with id %s not found", req.Msg.GetWatcherId()))
	}
	delete(f.server.watchers.table, req.Msg.GetWatcherId())
	w.watch.Close()
	return connect.NewResponse(&filesystempb.RemoveWatcherResponse{}), nil
}
