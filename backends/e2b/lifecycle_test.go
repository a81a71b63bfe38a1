//go:build linux && !remotebox_runner

package e2b_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/testfunc"
	"github.com/remote-box/remote/driver"
)

// session starts a session and returns its sandbox's id.
func session(t *testing.T, b remote.Backend) (ctx context.Context, id string) {
	t.Helper()
	s := remote.NewSession(b)
	t.Cleanup(func() { s.Close(context.WithoutCancel(t.Context())) })
	ctx = s.Context(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	ref, err := s.Ref()
	if err != nil {
		t.Fatal(err)
	}
	return ctx, ref.Sandbox
}

// begun is a writer that closes its channel at the first write.
type begun chan struct{}

func (b begun) Write(p []byte) (int, error) {
	select {
	case <-b:
	default:
		close(b)
	}
	return len(p), nil
}

// during calls Slow, and f once it runs.
func during(ctx context.Context, d time.Duration, f func()) (string, error) {
	running := make(begun)
	go func() {
		<-running
		f()
	}()
	return testfunc.Slow.Call(remote.WithOutput(ctx, running, nil), d)
}

func TestPausedOutside(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	ctx, id := session(t, b)
	if err := srv.PauseSandbox(id); err != nil {
		t.Fatal(err)
	}
	if _, err := testfunc.Size.Call(ctx, "x"); err != nil {
		t.Errorf("a call in a paused sandbox: %v", err)
	}
	// In the middle of a call, which goes on where it was.
	out, err := during(ctx, 500*time.Millisecond, func() {
		if err := srv.PauseSandbox(id); err != nil {
			t.Error(err)
		}
	})
	if err != nil || out != "done" {
		t.Errorf("a call whose sandbox was paused: %q, %v", out, err)
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	for what, destroy := range map[string]func(string) error{"killed": srv.KillSandbox, "expired": srv.ExpireSandbox} {
		t.Run(what, func(t *testing.T) {
			ctx, id := session(t, b)
			_, err := during(ctx, time.Minute, func() {
				if err := destroy(id); err != nil {
					t.Error(err)
				}
			})
			if !errors.Is(err, remote.ErrSandboxGone) {
				t.Errorf("the call under way: %v", err)
			}
			if _, err := testfunc.Size.Call(ctx, "x"); !errors.Is(err, remote.ErrSandboxGone) {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

func TestAutoPause(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	b.AutoPause = true
	ctx, id := session(t, b)
	if err := srv.ExpireSandbox(id); err != nil {
		t.Fatal(err)
	}
	if left := srv.Sandboxes(); len(left) != 1 || left[0].State != e2btest.Paused {
		t.Fatalf("%+v", left)
	}
	if _, err := testfunc.Size.Call(ctx, "x"); err != nil {
		t.Errorf("a call after the sandbox was paused: %v", err)
	}
	// Nobody would ever resume the sandbox of a single call.
	srv.ResetRequests()
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err != nil {
		t.Error(err)
	}
	if body := string(srv.Requests()[0].Body); strings.Contains(body, "autoPause") {
		t.Errorf("%s", body)
	}
}

// TestStreamsCut checks that a long call whose stream breaks is neither lost nor repeated, and that
// one that is cancelled then still ends.
func TestStreamsCut(t *testing.T) {
	t.Parallel()
	srv, b := serve(t, e2btest.Config{})
	ctx, _ := session(t, b)
	srv.Inject(e2btest.Fault{Path: start[len("POST "):], CutAfter: 300})
	if out, err := testfunc.Slow.Call(ctx, time.Second); err != nil || out != "done" {
		t.Errorf("%q, %v", out, err)
	}
	// All streams break from now on, of this call and of all that ask for its result.
	fault := srv.Inject(e2btest.Fault{Path: start[len("POST "):], CutAfter: 10, Times: -1})
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := testfunc.Slow.Call(short, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	fault.Remove()
}

// TestOutputWhole checks that what a function prints arrives whole and in order, while it runs, though
// its streams break.
func TestOutputWhole(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	ctx, _ := session(t, b)
	srv.ResetRequests()
	srv.Inject(e2btest.Fault{Path: start[len("POST "):], CutAfter: 1500})
	srv.Inject(e2btest.Fault{Path: start[len("POST "):], CutAfter: 1000})
	var want strings.Builder
	for i := range 100 {
		fmt.Fprintln(&want, "line", i)
	}
	out := &log{}
	n, err := testfunc.Chatter.Call(remote.WithOutput(ctx, out, nil), 100)
	if err != nil || n != 100 {
		t.Errorf("%d, %v", n, err)
	}
	if out.String() != want.String() {
		t.Errorf("it printed: %s", out)
	}
	expect(t, srv, "a call whose stream broke twice", start, start, start)
}

// TestFollow checks that a process whose stream broke can be listened to again.
func TestFollow(t *testing.T) {
	srv, b := serve(t, e2btest.Config{})
	sb, err := b.Start(t.Context(), driver.Spec{Program: programOf(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close(context.WithoutCancel(t.Context()))
	srv.ResetRequests()
	srv.Inject(e2btest.Fault{Path: start[len("POST "):], CutAfter: 300})
	srv.Inject(e2btest.Fault{Path: "/process.Process/Connect", CutAfter: 100})
	before, after := &log{}, &log{}
	_, err = sb.Exec(t.Context(), &driver.Command{
		Args:   []string{"sh", "-c", "i=0; while [ $i -lt 40 ]; do echo line $i; i=$((i+1)); sleep 0.05; done; exit 7"},
		Stdout: before,
	})
	broken, ok := errors.AsType[*driver.BrokenStream](err)
	if !ok || !strings.HasPrefix(before.String(), "line 0\n") {
		t.Fatalf("%v after %q", err, before)
	}
	st, err := broken.Follow(t.Context(), after, nil)
	if err != nil || st.Code != 7 {
		t.Errorf("%v, %v", st, err)
	}
	if !strings.HasSuffix(after.String(), "\nline 39\n") || strings.Contains(after.String(), "line 0\n") {
		t.Errorf("then it printed %q", after)
	}
	expect(t, srv, "a command whose stream broke twice", start, "POST /process.Process/Connect", "POST /process.Process/Connect")
}

// TestConnections checks that connections are used again.
func TestConnections(t *testing.T) {
	_, b := serve(t, e2btest.Config{})
	var dials atomic.Int32
	transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}
	defer transport.CloseIdleConnections()
	b.HTTPClient = &http.Client{Transport: transport}
	ctx, _ := session(t, b)
	for range 20 {
		if _, err := testfunc.Size.Call(ctx, "x"); err != nil {
			t.Fatal(err)
		}
	}
	if n := dials.Load(); n > 3 {
		t.Errorf("a creation and 20 calls took %d connections", n)
	}
}

// TestEnds checks that nothing is left of a process that is ended, of its children either.
func TestEnds(t *testing.T) {
	_, b := serve(t, e2btest.Config{})
	k := &keeper{Backend: b}
	s := remote.NewSession(k)
	defer s.Close(t.Context())
	ctx := s.Context(t.Context())
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	running := make(begun)
	short, cancel := context.WithCancel(ctx)
	go func() {
		<-running
		cancel()
	}()
	_, err := k.sb.Exec(short, &driver.Command{
		Args: []string{"/bin/sh", "-c", `(trap "" TERM HUP; setsid sleep 4711) & sleep 4711 & echo up; trap "" TERM; sleep 4711; sleep 4711`}, Stdout: running,
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n, err := testfunc.Alive.Call(ctx, "4711"); err != nil || n != 0 {
		t.Errorf("%d processes are left, %v", n, err)
	}
}

// keeper keeps the sandbox that was made last.
type keeper struct {
	driver.Backend
	sb driver.Sandbox
}

func (k *keeper) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	sb, err := k.Backend.Start(ctx, spec)
	k.sb = sb
	return sb, err
}

// TestPostCreate checks that the command runs as root, and once.
func TestPostCreate(t *testing.T) {
	srv := e2btest.New(t, e2btest.Config{})
	confined(t, srv)
	b := on(srv)
	b.PostCreateCmd = "id -un > /tmp/post; chmod 0644 /tmp/post; sleep 1000"
	ctx, _ := session(t, b)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		got, err := testfunc.Look.Call(ctx, []string{"/tmp/post"})
		if err != nil {
			t.Fatal(err)
		}
		if text := got.Files["/tmp/post"]; text == "-rw-r--r-- root\n" {
			break
		}
	}
}

// TestHTTP2 makes calls over HTTP/2 without TLS.
func TestHTTP2(t *testing.T) {
	_, b := serve(t, e2btest.Config{})
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: p}
	defer transport.CloseIdleConnections()
	b.HTTPClient = &http.Client{Transport: transport}
	ctx, _ := session(t, b)
	if n, err := testfunc.Size.Call(ctx, strings.Repeat("x", 200_000)); err != nil || n != 200_000 {
		t.Errorf("%d, %v", n, err)
	}
	if text, err := testfunc.Fill.Call(ctx, 3_000_000); err != nil || len(text) != 3_000_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	if _, err := testfunc.Slow.Call(short, time.Minute); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestUnreachable checks that a server that is not there is an error soon.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	_, b := serve(t, e2btest.Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	b.APIURL = "http://" + l.Addr().String()
	begin := time.Now()
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestLimit checks that a full account is a LimitError.
func TestLimit(t *testing.T) {
	srv, b := serve(t, e2btest.Config{MaxSandboxes: 1})
	session(t, b)
	var limit *remote.LimitError
	if _, err := testfunc.Size.Call(remote.WithBackend(t.Context(), b), "x"); !errors.As(err, &limit) || !strings.Contains(limit.Message, "maximum number") {
		t.Errorf("%v", err)
	}
	if n := len(srv.Sandboxes()); n != 1 {
		t.Errorf("there are %d sandboxes", n)
	}
}
