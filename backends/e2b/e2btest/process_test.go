//go:build linux && !remotebox_runner

package e2btest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

// frame puts a message into the envelope of Connect streams.
func frame(message string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// frames sends one message to a streaming RPC and returns the frames of the
// answer as "flag payload".
func (b *box) frames(rpc, message string, header ...string) []string {
	b.Helper()
	header = append([]string{"Content-Type", "application/connect+json", "Connect-Protocol-Version", "1"}, header...)
	a := b.envd("POST", rpc, string(frame(message)), header...)
	if a.status != http.StatusOK {
		b.Fatalf("%s: status %d, and it is always 200: %s", rpc, a.status, a.body)
	}
	var list []string
	for rest := []byte(a.body); len(rest) > 0; {
		size := int(binary.BigEndian.Uint32(rest[1:]))
		list = append(list, fmt.Sprintf("%d %s", rest[0], bytes.ReplaceAll(rest[5:5+size], []byte(" "), nil)))
		rest = rest[5+size:]
	}
	return list
}

// The frames are those seen from the real envd; spaces and pids left out.
func TestGoldenFrames(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	start := func(script string) string {
		return fmt.Sprintf(`{"process":{"cmd":"/bin/bash","args":["-c",%q]},"stdin":false}`, script)
	}
	for _, c := range []struct {
		name, message string
		header        []string
		want          []string // without the start event
	}{
		{"ok", start("echo out"), nil, []string{
			`0 {"event":{"data":{"stdout":"b3V0Cg=="}}}`, `0 {"event":{"end":{"exited":true,"status":"exitstatus0"}}}`, `2 {}`,
		}},
		{"exit 3", start("exit 3"), nil, []string{
			`0 {"event":{"end":{"exitCode":3,"exited":true,"status":"exitstatus3","error":"exitstatus3"}}}`, `2 {}`,
		}},
		{"killed", start("kill -9 $$"), nil, []string{
			`0 {"event":{"end":{"exitCode":-1,"status":"signal:killed","error":"signal:killed"}}}`, `2 {}`,
		}},
		{"deadline", start("exec sleep 1000"), []string{"Connect-Timeout-Ms", "2000"}, []string{
			`2 {"error":{"code":"deadline_exceeded","message":"contextdeadlineexceeded"}}`,
		}},
	} {
		got := b.frames("/process.Process/Start", c.message, c.header...)
		if len(got) == 0 || !strings.HasPrefix(got[0], `0 {"event":{"start":{"pid":`) {
			t.Errorf("%s: the first frame is no start: %q", c.name, got)
			continue
		}
		if strings.Join(got[1:], "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got[1:], "\n"), strings.Join(c.want, "\n"))
		}
	}
	for _, c := range []struct {
		rpc, message string
		header       []string
		want         string
	}{
		{"Start", `{"process":{"cmd":"/bin/true","cwd":"/nonexist"}}`, nil, `2 {"error":{"code":"invalid_argument","message":"cwd'/nonexist'doesnotexist"}}`},
		{"Start", `{"process":{"cmd":"/bin/true"}}`, []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("nouser:"))}, `2 {"error":{"code":"unauthenticated","message":"invalidusername:'nouser'"}}`},
		{"Start", start("true"), []string{"Connect-Timeout-Ms", "0"}, `2 {"error":{"code":"deadline_exceeded","message":"contextdeadlineexceeded"}}`},
		{"Connect", `{"process":{"pid":424242}}`, nil, `2 {"error":{"code":"not_found","message":"processwithpid424242notfound"}}`},
	} {
		if got := b.frames("/process.Process/"+c.rpc, c.message, c.header...); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s %s:\n%q\nwant\n%q", c.rpc, c.message, got, c.want)
		}
	}
	idle := b.start("sleep 1000", func(r *connect.Request[process.StartRequest]) { r.Header().Set("Keepalive-Ping-Interval", "1") })
	for idle.stream.Receive() && idle.stream.Msg().GetEvent().GetKeepalive() == nil {
	}
	if err := idle.stream.Err(); err != nil {
		t.Errorf("no keepalive: %v", err)
	}
}

func TestUnaryRefusals(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	p := b.start("sleep 1000")
	for _, c := range []struct {
		rpc, message string
		status       int
		want         string
	}{
		{"SendSignal", fmt.Sprintf(`{"process":{"pid":%d},"signal":2}`, p.pid), 501, `{"code":"unimplemented","message":"invalid signal: 2"}`},
		{"SendInput", fmt.Sprintf(`{"process":{"pid":%d},"input":{"stdin":"eA=="}}`, p.pid), 500, `{"code":"internal","message":"error writing to stdin: stdin not enabled or closed"}`},
		{"SendSignal", `{"process":{"pid":424242},"signal":"SIGNAL_SIGKILL"}`, 404, `{"code":"not_found","message":"process with pid 424242 not found"}`},
		{"NoSuch", `{}`, 404, "page not found"},
	} {
		a := b.envd("POST", "/process.Process/"+c.rpc, c.message, "Content-Type", "application/json")
		if a.status != c.status || !strings.Contains(a.body, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.rpc, a.status, a.body, c.status, c.want)
		}
	}
	if a := b.envd("POST", "/process.Process/Start", "{}", "Content-Type", "text/plain"); a.status != 415 || a.body != "" {
		t.Errorf("wrong type: %d %q", a.status, a.body)
	}
	if a := b.envd("POST", "/process.Process/List", "{}", "Content-Type", "application/json", "X-Access-Token", "wrong"); a.status != 401 ||
		!strings.Contains(a.body, `{"code":401,"message":"unauthorized access, please provide a valid access token or method signing if supported"}`) {
		t.Errorf("wrong token: %d %s", a.status, a.body)
	}
}

func TestMissingBinaryIsAnExitCode(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	command := func(path string) func(*connect.Request[process.StartRequest]) {
		return func(r *connect.Request[process.StartRequest]) { r.Msg.Process.Cmd, r.Msg.Process.Args = path, nil }
	}
	_, stderr, end := b.start("", command("/no/such")).finish()
	if end.GetExitCode() != 127 || !strings.Contains(stderr, "/no/such") || !strings.Contains(stderr, "No such file") {
		t.Errorf("missing: %v, %q", end, stderr)
	}
	if a := b.envd("POST", "/files?path=fresh", "#!/bin/sh\n", "Content-Type", "application/octet-stream"); a.status != 200 {
		t.Fatal(a.body)
	}
	home := strings.TrimSpace(b.run("echo $HOME"))
	if _, _, end := b.start("", command(home+"/fresh")).finish(); end.GetExitCode() != 126 {
		t.Errorf("a fresh upload has mode 0644: %v", end)
	}
}

func TestOutputWithoutSubscriberIsLost(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	p := b.start(`echo first; read x <fifo; echo lost; echo >fifo2; read x <fifo; echo seen`, func(r *connect.Request[process.StartRequest]) {
		r.Msg.Process.Args[1] = "mkfifo fifo fifo2; " + r.Msg.Process.Args[1]
	})
	p.line()
	p.cancel()
	if p.next() != nil {
		t.Fatal("an event after the stream was left")
	}
	b.run("echo >fifo; read x <fifo2") // returns after "lost" was written
	stream := b.connect(p.pid)
	if !stream.Receive() || stream.Msg().GetEvent().GetStart().GetPid() != p.pid {
		t.Fatalf("no start event: %v", stream.Err())
	}
	b.run("echo >fifo")
	var out []byte
	for stream.Receive() {
		out = append(out, stream.Msg().GetEvent().GetData().GetStdout()...)
	}
	if string(out) != "seen\n" {
		t.Errorf("%q, want only what came after the connect", out)
	}
	again := b.connect(p.pid) // ended, and still known
	var events []string
	for again.Receive() {
		events = append(events, strings.TrimPrefix(fmt.Sprintf("%T", again.Msg().GetEvent().GetEvent()), "*process.ProcessEvent_"))
	}
	if fmt.Sprint(events) != "[Start End]" {
		t.Errorf("after the end: %v, %v", events, again.Err())
	}
}

func TestKillHitsTheLeaderOnly(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	p := b.start(`sleep 1000 & echo $!; wait`)
	child := strings.TrimSpace(p.line())
	if err := b.signal(p.pid, process.Signal_SIGNAL_SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := b.run("kill -0 " + child + " && echo alive"); got != "alive\n" {
		t.Error("the child died with its parent")
	}
	// It holds the pipes, so the stream goes on until it ends too.
	b.run("kill -9 " + child)
	if _, _, end := p.finish(); end.GetExitCode() != -1 || end.GetStatus() != "signal: killed" {
		t.Errorf("end %v", end)
	}
	b.confined() // elsewhere it is the host's process 1 that reaps
	for b.ctx.Err() == nil {
		if _, _, end := b.start("kill -0 " + child).finish(); end.GetExitCode() != 0 {
			return
		}
	}
	t.Error("the orphan was not reaped")
}

func TestNoProcessGroupOfItsOwn(t *testing.T) {
	b := newRig(t, e2btest.Config{}).confined().create("")
	if _, stderr, end := b.start("kill -0 -- -$$").finish(); end.GetExitCode() == 0 || !strings.Contains(stderr, "No such process") {
		t.Errorf("a process leads a group without having asked for it: %v %s", end, stderr)
	}
	if _, stderr, end := b.start("setsid --wait bash -c 'kill -0 -- -$$'").finish(); end.GetExitCode() != 0 {
		t.Errorf("after setsid: %v %s", end, stderr)
	}
}

func TestTimeoutOutlivesTheStream(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	p := b.start("exec sleep 1000", func(r *connect.Request[process.StartRequest]) { r.Header().Set("Connect-Timeout-Ms", "500") })
	p.cancel()
	stream := b.connect(p.pid)
	var end *process.ProcessEvent_EndEvent
	for stream.Receive() {
		end = stream.Msg().GetEvent().GetEnd()
	}
	if end.GetStatus() != "signal: killed" {
		t.Errorf("end %v, %v; want the deadline's kill", end, stream.Err())
	}
}

func TestSlowReaderHoldsTheProcess(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	// Far more than all buffers on the way; the file says how far it came.
	const message = `{"process":{"cmd":"/bin/bash","args":["-c","for i in $(seq 16); do head -c 1M /dev/zero; echo $i >progress; done; echo done >progress"]},"stdin":false}`
	req := b.request("POST", b.srv.SandboxURL()+"/process.Process/Start", string(frame(message)), "Content-Type", "application/connect+json")
	b.route(req.Header)
	resp, err := b.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	before := ""
	for same := 0; same < 10; same++ { // stands still while other processes come and go
		if now := b.run("cat progress 2>/dev/null || echo 0"); now != before {
			before, same = now, 0
		}
	}
	if before == "done\n" {
		t.Fatal("the process ran on although nobody read")
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if size := base64.StdEncoding.EncodedLen(16 << 20); len(body) < size || !bytes.Contains(body[size:], []byte(`"exit status 0"`)) {
		t.Errorf("%d bytes, want at least %d and the end event", len(body), size)
	}
}

func TestInput(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	open := func(r *connect.Request[process.StartRequest]) { r.Msg.Stdin = nil } // absent: an open pipe
	p := b.start("cat", open)
	text := func(s string) *process.ProcessInput {
		return &process.ProcessInput{Input: &process.ProcessInput_Stdin{Stdin: []byte(s)}}
	}
	if _, err := b.process.SendInput(b.ctx, connect.NewRequest(&process.SendInputRequest{Process: pid(p.pid), Input: text("one\n")})); err != nil {
		t.Fatal(err)
	}
	stream := b.process.StreamInput(b.ctx)
	for _, m := range []*process.StreamInputRequest{
		{Event: &process.StreamInputRequest_Start{Start: &process.StreamInputRequest_StartEvent{Process: pid(p.pid)}}},
		{Event: &process.StreamInputRequest_Data{Data: &process.StreamInputRequest_DataEvent{Input: text("two\n")}}},
		{Event: &process.StreamInputRequest_Keepalive{}},
	} {
		if err := stream.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stream.CloseAndReceive(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.process.CloseStdin(b.ctx, connect.NewRequest(&process.CloseStdinRequest{Process: pid(p.pid)})); err != nil {
		t.Fatal(err)
	}
	if out, _, _ := p.finish(); out != "one\ntwo\n" {
		t.Errorf("%q", out)
	}
	// Input to a process that doesn't read it all waits, and fails when it ends.
	p = b.start("head -c1 >/dev/null; echo begun; exec sleep 1000", open)
	sent := make(chan error, 1)
	go func() {
		_, err := b.process.SendInput(b.ctx, connect.NewRequest(&process.SendInputRequest{Process: pid(p.pid), Input: text(strings.Repeat("x", 1<<20))}))
		sent <- err
	}()
	p.line()
	select {
	case err := <-sent:
		t.Errorf("input came back before anyone read it: %v", err)
	default:
	}
	if err := b.signal(p.pid, process.Signal_SIGNAL_SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; code(err) != "internal" || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("input to a dead process: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create(`"envVars":{"A":"sandbox","B":"sandbox"}`)
	p := b.start("env; pwd", func(r *connect.Request[process.StartRequest]) {
		r.Msg.Process.Envs = map[string]string{"B": "request"}
	})
	out, _, _ := p.finish()
	for _, want := range []string{"A=sandbox", "B=request", "USER=user", "LOGNAME=user", "E2B_SANDBOX=true", "E2B_SANDBOX_ID=" + b.id, "E2B_TEMPLATE_ID=basetemplateid000000"} {
		if !strings.Contains("\n"+out, "\n"+want+"\n") {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if name, _, ok := strings.Cut(line, "="); ok && !strings.Contains(" A B PATH HOME USER LOGNAME E2B_SANDBOX E2B_SANDBOX_ID E2B_TEMPLATE_ID PWD OLDPWD SHLVL _ TMPDIR ", " "+name+" ") {
			t.Errorf("from the host: %s", line)
		}
	}
	if a := b.envd("GET", "/envs", ""); a.text(b.rig, "A") != "sandbox" {
		t.Errorf("/envs: %s", a.body)
	}
}

func TestTagsFindAtRandom(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	tag := func(name string) func(*connect.Request[process.StartRequest]) {
		return func(r *connect.Request[process.StartRequest]) { r.Msg.Tag = &name }
	}
	find := func(name string) string {
		stream, err := b.process.Connect(b.ctx, connect.NewRequest(&process.ConnectRequest{Process: &process.ProcessSelector{Selector: &process.ProcessSelector_Tag{Tag: name}}}))
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		stream.Receive()
		return code(stream.Err())
	}
	b.start("sleep 1000", tag("a"))
	if got := find("a"); got != "ok" {
		t.Errorf("the only tag: %s", got)
	}
	b.start("sleep 1000", tag("b"))
	seen := make(map[string]bool)
	for len(seen) < 2 && b.ctx.Err() == nil {
		seen[find("a")] = true
	}
	if !seen["ok"] || !seen["not_found"] {
		t.Errorf("with two tags: %v, want both (the bug of envd)", seen)
	}
}
