package docker_test

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/moby/moby/client"
)

// proxy stands between a backend and the engine, and breaks connections when told to.
type proxy struct {
	host   string // for Backend.Host
	dialer func() (net.Conn, error)

	mu    sync.Mutex
	conns map[net.Conn]bool
	away  int // connections that are still to be refused
}

func newProxy(t testing.TB, c *client.Client) *proxy {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{host: "unix://" + socket, conns: map[net.Conn]bool{}}
	p.dialer = func() (net.Conn, error) { return c.Dialer()(context.WithoutCancel(t.Context())) } // also while the test cleans up
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.carry(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.cut()
		wg.Wait()
	})
	return p
}

func (p *proxy) carry(in net.Conn) {
	defer in.Close()
	out, err := p.dialer()
	if err != nil {
		return
	}
	defer out.Close()
	p.mu.Lock()
	refused := p.away > 0
	if refused {
		p.away--
	}
	p.conns[in], p.conns[out] = true, true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.conns, in)
		delete(p.conns, out)
		p.mu.Unlock()
	}()
	if refused {
		return
	}
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
		go func() {
			io.Copy(pair[0], pair[1])
			if w, ok := pair[0].(interface{ CloseWrite() error }); ok {
				w.CloseWrite()
			}
			done <- struct{}{}
		}()
	}
	<-done
	<-done
}

// cut breaks every connection that there is.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// refuse makes the engine unreachable for the next n connections.
func (p *proxy) refuse(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = n
}

// refusing is how many connections are still to be refused.
func (p *proxy) refusing() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.away
}
