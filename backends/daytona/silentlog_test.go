package daytona_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/daytona"
	"github.com/remote-box/remote/backends/daytona/daytonatest"
	"github.com/remote-box/remote/backends/daytona/internal/testfunc"
)

// relay passes connections on to a server. Those whose request holds a text can be silenced: nothing
// passes any more, and neither side hears of it, as when a router has forgotten a connection.
type relay struct {
	ln   net.Listener
	to   string
	text string
	work sync.WaitGroup

	mu     sync.Mutex
	conns  []net.Conn
	marked []*relayed
}

type relayed struct {
	mu     sync.Mutex
	silent bool
}

func newRelay(t *testing.T, to, text string) *relay {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{ln: ln, to: to, text: text}
	r.work.Go(r.accept)
	t.Cleanup(func() {
		ln.Close()
		r.mu.Lock()
		for _, c := range r.conns {
			c.Close()
		}
		r.mu.Unlock()
		r.work.Wait()
	})
	return r
}

func (r *relay) accept() {
	for {
		down, err := r.ln.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", r.to)
		if err != nil {
			down.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, down, up)
		r.mu.Unlock()
		c := &relayed{}
		r.work.Go(func() { r.pass(c, up, down) })
		r.work.Go(func() { r.pass(c, down, up) })
	}
}

func (r *relay) pass(c *relayed, to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if bytes.Contains(buf[:n], []byte(r.text)) {
			r.mu.Lock()
			r.marked = append(r.marked, c)
			r.mu.Unlock()
		}
		c.mu.Lock()
		if n > 0 && !c.silent {
			to.Write(buf[:n])
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// silence silences the connections that have held the text, and tells how many there were.
func (r *relay) silence() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.marked {
		c.mu.Lock()
		c.silent = true
		c.mu.Unlock()
	}
	return len(r.marked)
}

// through is b with a relay between it and the toolbox of srv.
func through(t *testing.T, srv *daytonatest.Server, b daytona.Backend, text string) (daytona.Backend, *relay) {
	t.Helper()
	target, err := url.Parse(srv.ToolboxURL())
	if err != nil {
		t.Fatal(err)
	}
	r := newRelay(t, target.Host, text)
	front := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: target.Host})
	front.ModifyResponse = func(resp *http.Response) error {
		body, err := io.ReadAll(resp.Body)
		body = bytes.ReplaceAll(body, []byte(srv.ToolboxURL()), []byte("http://"+r.ln.Addr().String()+"/toolbox"))
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return err
	}
	api := httptest.NewServer(front)
	t.Cleanup(api.Close)
	b.APIURL = api.URL + strings.TrimPrefix(srv.APIURL(), "http://"+target.Host)
	return b, r
}

// TestSilentLog makes a call in a session whose log's connection has died without a word.
func TestSilentLog(t *testing.T) {
	srv, b := serve(t, daytonatest.Config{})
	b, between := through(t, srv, b, "/logs?follow")
	b = daytona.Idling(b, time.Nanosecond) // any connection has been idle for long
	s := remote.NewSession(b)
	defer s.Close(context.WithoutCancel(t.Context()))
	ctx := s.Context(t.Context())
	for range 3 { // connections that live stay
		if _, err := testfunc.Size.Call(ctx, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if n := srv.Count("GET", "/logs"); n != 1 {
		t.Errorf("the log was connected to %d times", n)
	}
	if between.silence() == 0 {
		t.Fatal("no connection was silenced")
	}
	srv.ForgetRequests()
	begin := time.Now()
	if n, err := testfunc.Size.Call(ctx, "xyz"); n != 3 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if took := time.Since(begin); took > 15*time.Second { // the beat of long calls would take more than a minute
		t.Errorf("it took %v", took)
	} else {
		t.Logf("it took %v", took)
	}
	expect(t, srv, "a call whose log was silent", input, logs)
}
