//go:build linux && !remotebox_runner

package e2btest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/envdpb/filesystem/filesystemconnect"
	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process/processconnect"
	"github.com/remote-box/remote/internal/needs"
)

// rig is a server and a plain HTTP client of it.
type rig struct {
	*testing.T
	srv    *e2btest.Server
	client *http.Client
	ctx    context.Context // the test's watchdog
}

func newRig(t *testing.T, cfg e2btest.Config) *rig {
	t.Helper()
	t.Parallel()
	return newRigOf(t, e2btest.New(t, cfg))
}

// newRigOf is a client of a server that the test has started.
func newRigOf(t *testing.T, srv *e2btest.Server) *rig {
	t.Helper()
	// Not a deadline: Connect clients would send it along, as the time that a
	// process may live.
	ctx, cancel := context.WithCancel(context.Background())
	watchdog := time.AfterFunc(3*time.Minute, cancel)
	t.Cleanup(func() { watchdog.Stop(); cancel() })
	r := &rig{T: t, srv: srv, client: &http.Client{Transport: &http.Transport{}}, ctx: ctx}
	t.Cleanup(r.client.CloseIdleConnections)
	return r
}

// newRigIn is a second server in the same test.
func newRigIn(r *rig, cfg e2btest.Config) *rig {
	other := *r
	other.srv = e2btest.New(r.T, cfg)
	return &other
}

// confined is for what a plain directory can't do.
func (r *rig) confined() *rig {
	r.Helper()
	if isolation := r.srv.Isolation(); isolation != "namespaces" {
		needs.Missing(r.T, "it takes name spaces, which take root on Linux; here a sandbox is %s", isolation)
	}
	return r
}

// reply is an answer with its body.
type reply struct {
	status int
	header http.Header
	body   string
}

// json returns a field of the body; dots lead into objects.
func (a reply) json(t *rig, path string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(a.body), &value); err != nil {
		t.Fatalf("status %d: %v: %s", a.status, err, a.body)
	}
	for key := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			t.Fatalf("no %s in %s", path, a.body)
		}
		value = object[key]
	}
	return value
}

func (a reply) text(t *rig, path string) string {
	t.Helper()
	text, ok := a.json(t, path).(string)
	if !ok {
		t.Fatalf("%s is no string in %s", path, a.body)
	}
	return text
}

func (r *rig) send(req *http.Request) (reply, error) {
	resp, err := r.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(body)}, err
}

func (r *rig) request(method, url, body string, header ...string) *http.Request {
	r.Helper()
	req, err := http.NewRequestWithContext(r.ctx, method, url, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return req
}

// api calls the control plane.
func (r *rig) api(method, path, body string, header ...string) reply {
	r.Helper()
	preset := []string{"X-API-KEY", r.srv.Key}
	if body != "" {
		preset = append(preset, "Content-Type", "application/json")
	}
	a, err := r.send(r.request(method, r.srv.APIURL()+path, body, append(preset, header...)...))
	if err != nil {
		r.Fatal(err)
	}
	return a
}

// want checks a call of the control plane; text must be part of the body.
func (r *rig) want(method, path, body string, status int, text string) reply {
	r.Helper()
	a := r.api(method, path, body)
	if a.status != status || !strings.Contains(a.body, text) {
		r.Errorf("%s %s %s: %d %s\nwant %d with %s", method, path, body, a.status, a.body, status, text)
	}
	return a
}

// box is a sandbox as a client sees it.
type box struct {
	*rig
	id, token string
	process   processconnect.ProcessClient
	files     filesystemconnect.FilesystemClient
}

// create makes a secured sandbox; fields are added to the request.
func (r *rig) create(fields string) *box {
	r.Helper()
	body := `{"templateID":"base","timeout":600,"secure":true`
	if fields != "" {
		body += "," + fields
	}
	return r.open(r.want("POST", "/sandboxes", body+"}", http.StatusCreated, "sandboxID"))
}

func (r *rig) open(created reply) *box {
	r.Helper()
	b := &box{rig: r, id: created.text(r, "sandboxID"), token: created.text(r, "envdAccessToken")}
	b.process = processconnect.NewProcessClient(r.client, r.srv.SandboxURL(), connect.WithProtoJSON(), b.routed())
	b.files = filesystemconnect.NewFilesystemClient(r.client, r.srv.SandboxURL(), connect.WithProtoJSON(), b.routed())
	return b
}

// routed adds the headers that lead to the sandbox.
func (b *box) routed() connect.ClientOption {
	return connect.WithInterceptors(router{b})
}

func (b *box) route(header http.Header) {
	header.Set("E2b-Sandbox-Id", b.id)
	header.Set("E2b-Sandbox-Port", "49983")
	header.Set("X-Access-Token", b.token)
}

type router struct{ *box }

func (i router) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		i.route(req.Header())
		return next(ctx, req)
	}
}

func (i router) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		i.route(conn.RequestHeader())
		return conn
	}
}

func (i router) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// envd sends a plain request to the sandbox.
func (b *box) envd(method, path, body string, header ...string) reply {
	b.Helper()
	a, err := b.tryEnvd(method, path, body, header...)
	if err != nil {
		b.Fatal(err)
	}
	return a
}

func (b *box) tryEnvd(method, path, body string, header ...string) (reply, error) {
	b.Helper()
	req := b.request(method, b.srv.SandboxURL()+path, body)
	b.route(req.Header)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return b.send(req)
}

// running is a process that the test listens to.
type running struct {
	*box
	stream *connect.ServerStreamForClient[process.StartResponse]
	cancel context.CancelFunc
	pid    uint32
}

// start starts a shell command and returns after its start event.
func (b *box) start(command string, edit ...func(*connect.Request[process.StartRequest])) *running {
	b.Helper()
	req := connect.NewRequest(&process.StartRequest{
		Process: &process.ProcessConfig{Cmd: "/bin/bash", Args: []string{"-c", command}}, Stdin: new(false),
	})
	for _, f := range edit {
		f(req)
	}
	ctx, cancel := context.WithCancel(b.ctx)
	b.Cleanup(cancel)
	stream, err := b.process.Start(ctx, req)
	if err != nil {
		b.Fatal(err)
	}
	p := &running{box: b, stream: stream, cancel: cancel}
	if !stream.Receive() {
		b.Fatalf("%s: no event: %v", command, stream.Err())
	}
	if p.pid = stream.Msg().GetEvent().GetStart().GetPid(); p.pid == 0 {
		b.Fatalf("%s: the first event is %v", command, stream.Msg())
	}
	return p
}

// next returns the next event that isn't a keepalive, or nil at the end.
func (p *running) next() *process.ProcessEvent {
	for p.stream.Receive() {
		if event := p.stream.Msg().GetEvent(); event.GetKeepalive() == nil {
			return event
		}
	}
	return nil
}

// line reads output until there is a whole line.
func (p *running) line() string {
	p.Helper()
	var out []byte
	for !bytes.HasSuffix(out, []byte("\n")) {
		event := p.next()
		if event.GetData() == nil {
			p.Fatalf("after %q: %v, %v", out, event, p.stream.Err())
		}
		out = append(append(out, event.GetData().GetStdout()...), event.GetData().GetStderr()...)
	}
	return string(out)
}

// finish reads everything up to the end event.
func (p *running) finish() (stdout, stderr string, end *process.ProcessEvent_EndEvent) {
	p.Helper()
	var out, err bytes.Buffer
	for {
		event := p.next()
		switch {
		case event == nil:
			p.Fatalf("no end event: %v", p.stream.Err())
		case event.GetEnd() != nil:
			return out.String(), err.String(), event.GetEnd()
		}
		out.Write(event.GetData().GetStdout())
		err.Write(event.GetData().GetStderr())
	}
}

// run runs a shell command that must succeed and returns its output.
func (b *box) run(command string) string {
	b.Helper()
	stdout, stderr, end := b.start(command).finish()
	if end.GetExitCode() != 0 {
		b.Fatalf("%s: %v\n%s", command, end, stderr)
	}
	return stdout
}

// connect listens to a process that was started before.
func (b *box) connect(number uint32) *connect.ServerStreamForClient[process.ConnectResponse] {
	b.Helper()
	stream, err := b.process.Connect(b.ctx, connect.NewRequest(&process.ConnectRequest{Process: pid(number)}))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stream.Close() })
	return stream
}

func pid(number uint32) *process.ProcessSelector {
	return &process.ProcessSelector{Selector: &process.ProcessSelector_Pid{Pid: number}}
}

func (b *box) signal(number uint32, signal process.Signal) error {
	_, err := b.process.SendSignal(b.ctx, connect.NewRequest(&process.SendSignalRequest{Process: pid(number), Signal: signal}))
	return err
}

// code is the Connect code of an error, as a word.
func code(err error) string {
	if err == nil {
		return "ok"
	}
	return connect.CodeOf(err).String()
}
