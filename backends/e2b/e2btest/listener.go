//go:build !remotebox_runner

package e2btest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// listener is one of the two addresses.
type listener struct {
	url    string
	server *http.Server

	mu       sync.Mutex
	stopped  bool
	handlers sync.WaitGroup
	serving  sync.WaitGroup
	socket   net.Listener
}

type connKey struct{}

func (s *Server) listen(plane Plane, handler http.Handler) (*listener, error) {
	socket, err := net.Listen("tcp", net.JoinHostPort(s.cfg.Host, "0"))
	if err != nil {
		return nil, err
	}
	l := &listener{url: "http://" + socket.Addr().String(), socket: socket}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	handler = s.observe(plane, handler)
	l.server = &http.Server{
		Protocols: protocols,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !l.enter() {
				abort(r)
			}
			defer l.handlers.Done()
			handler.ServeHTTP(w, r)
		}),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		BaseContext: func(net.Listener) context.Context { return s.ctx },
		ErrorLog:    discardLog(),
	}
	return l, nil
}

// serve begins to take connections, which must see a server that is complete.
func (l *listener) serve() {
	l.serving.Go(func() { l.server.Serve(l.socket) })
}

func (l *listener) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.stopped {
		l.handlers.Add(1)
	}
	return !l.stopped
}

// stop refuses new requests and cuts the old ones.
func (l *listener) stop() {
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
	l.server.Close()
	l.socket.Close() // in case it was never served
}

func (l *listener) wait() {
	l.handlers.Wait()
	l.serving.Wait()
}
