//go:build !remotebox_runner

package envd

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
	filesystempb "github.com/remote-box/remote/backends/e2b/internal/envdpb/filesystem"
)

// watcher collects events until someone asks for them.
type watcher struct {
	watch *jail.Watch

	mu     sync.Mutex
	events []*filesystempb.FilesystemEvent
}

// watchers are those made by CreateWatcher, and the streams of WatchDir.
type watchers struct {
	server *Server

	mu    sync.Mutex
	table map[string]*watcher
}

type watchRequest interface {
	GetPath() string
	GetRecursive() bool
	GetIncludeEntry() bool
}

// open begins to watch. Every event goes to report, from a goroutine that ends
// with the watch; done is closed then.
func (ws *watchers) open(req connect.AnyRequest, message watchRequest, report func(*filesystempb.FilesystemEvent)) (*jail.Watch, <-chan struct{}, error) {
	s := ws.server
	user, err := s.rpcUser(req.Header())
	if err != nil {
		return nil, nil, err
	}
	root := s.resolve(message.GetPath(), user)
	var info os.FileInfo
	if doErr := s.cfg.Jail.Do(func() { info, err = os.Stat(root) }); doErr != nil {
		return nil, nil, connect.NewError(connect.CodeUnavailable, doErr)
	}
	if err != nil {
		return nil, nil, fileError(err, root)
	}
	if !info.IsDir() {
		return nil, nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("path %s not a directory", root))
	}
	watch, err := s.cfg.Jail.NewWatch(root, message.GetRecursive())
	if err != nil {
		return nil, nil, connect.NewError(connect.CodeInternal, fmt.Errorf("error creating watcher: %w", err))
	}
	done := make(chan struct{})
	s.running.Go(func() {
		defer close(done)
		for {
			err := watch.Next(func(name string, change jail.Change) {
				event := &filesystempb.FilesystemEvent{Name: name, Type: eventType(change)}
				if message.GetIncludeEntry() {
					event.Entry = ws.entry(filepath.Join(root, name))
				}
				report(event)
			})
			if err != nil {
				return
			}
		}
	})
	return watch, done, nil
}

// entry describes a file that may be gone already.
func (ws *watchers) entry(path string) *filesystempb.EntryInfo {
	var file found
	var err error
	if doErr := ws.server.cfg.Jail.Do(func() { file, err = look(path) }); doErr != nil || err != nil {
		return nil
	}
	return ws.server.entry(file)
}

func eventType(change jail.Change) filesystempb.EventType {
	switch change {
	case jail.Created:
		return filesystempb.EventType_EVENT_TYPE_CREATE
	case jail.Written:
		return filesystempb.EventType_EVENT_TYPE_WRITE
	case jail.Removed:
		return filesystempb.EventType_EVENT_TYPE_REMOVE
	case jail.Renamed:
		return filesystempb.EventType_EVENT_TYPE_RENAME
	case jail.ModeChanged:
		return filesystempb.EventType_EVENT_TYPE_CHMOD
	}
	return filesystempb.EventType_EVENT_TYPE_UNSPECIFIED
}

func (ws *watchers) closeAll() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for id, w := range ws.table {
		w.watch.Close()
		delete(ws.table, id)
	}
}
