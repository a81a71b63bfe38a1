//go:build linux && !remotebox_runner

package e2btest_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/backends/e2b/internal/envdpb/filesystem"
)

const octets = "application/octet-stream"

func TestUpload(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	home := strings.TrimSpace(b.run("echo ~"))
	a := b.envd("POST", "/files?path=d/h.txt", "one", "Content-Type", octets)
	want := `[{"name":"h.txt","path":"` + home + `/d/h.txt","type":"file"}]`
	if a.status != 200 || strings.TrimSpace(a.body) != want || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s %s, want %s as text/plain", a.status, a.header.Get("Content-Type"), a.body, want)
	}
	b.run("chmod 755 d/h.txt")
	b.envd("POST", "/files?path=d/h.txt", "2", "Content-Type", octets)
	if got := b.run("cat d/h.txt; stat -c ' %a' d/h.txt"); got != "2 755\n" {
		t.Errorf("%q: truncated, with its mode kept?", got)
	}
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	io.WriteString(packer, "unpacked")
	packer.Close()
	b.envd("POST", "/files?path=packed", packed.String(), "Content-Type", octets, "Content-Encoding", "gzip", "X-Metadata-Foo", "Bar")
	if got := b.run("cat packed"); got != "unpacked" {
		t.Errorf("%q", got)
	}
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, name := range []string{"m/1", home + "/m/2"} {
		part, err := w.CreateFormFile("file", name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(part, name)
	}
	w.Close()
	if a := b.envd("POST", "/files", form.String(), "Content-Type", w.FormDataContentType()); a.status != 200 {
		t.Errorf("form: %d %s", a.status, a.body)
	}
	if got := b.run("cat m/1 m/2"); got != "m/1"+home+"/m/2" {
		t.Errorf("%q", got)
	}
	if a := b.envd("POST", "/files/compose", `{"source_paths":["m/1","d/h.txt"],"destination":"joined"}`); a.status != 200 {
		t.Errorf("compose: %d %s", a.status, a.body)
	}
	if got := b.run("cat joined; ls m d"); got != "m/12d:\n\nm:\n2\n" {
		t.Errorf("%q", got)
	}
	for _, c := range []struct {
		query, kind string
		status      int
		text        string
	}{
		{"?path=" + home, octets, 400, `{"code":400,"message":"path is a directory: ` + home + `"}`},
		{"?path=x", "text/plain", 400, "unsupported content type: text/plain"},
		{"", octets, 400, "path is required"},
		{"?path=x&username=nouser", octets, 401, "invalid username: 'nouser'"},
	} {
		if a := b.envd("POST", "/files"+c.query, "x", "Content-Type", c.kind); a.status != c.status || !strings.Contains(a.body, c.text) {
			t.Errorf("%s %s: %d %s, want %d %s", c.query, c.kind, a.status, a.body, c.status, c.text)
		}
	}
}

func TestDownload(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	b.run("printf 0123456789 >digits.txt; mkdir dir; mkfifo fifo")
	plain := []string{"Accept-Encoding", "identity"}
	a := b.envd("GET", "/files?path=digits.txt", "", plain...)
	if a.status != 200 || a.body != "0123456789" || a.header.Get("Content-Length") != "10" || a.header.Get("Last-Modified") == "" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	a = b.envd("GET", "/files?path=digits.txt", "", append(plain, "Range", "bytes=2-4")...)
	if a.status != http.StatusPartialContent || a.body != "234" {
		t.Errorf("range: %d %q", a.status, a.body)
	}
	a = b.envd("GET", "/files?path=digits.txt", "", "Accept-Encoding", "gzip")
	unpacker, err := gzip.NewReader(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(unpacker); err != nil || string(data) != "0123456789" || a.header.Get("Content-Encoding") != "gzip" {
		t.Errorf("gzip: %q %v %v", data, err, a.header)
	}
	for path, want := range map[string]int{"dir": 400, "nope": 404, "fifo": 400, "digits.txt&username=nouser": 401} {
		if a := b.envd("GET", "/files?path="+path, ""); a.status != want {
			t.Errorf("%s: %d %s, want %d", path, a.status, a.body, want)
		}
	}
}

func TestSignedURLs(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	b.run("printf content >file")
	sign := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return url.QueryEscape("v1_" + base64.RawStdEncoding.EncodeToString(sum[:]))
	}
	soon, past := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10), strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)
	for _, c := range []struct {
		query, text string
		status      int
	}{
		{"path=file&signature=" + sign("file:read::"+b.token), "content", 200},
		{"path=file&username=user&signature=" + sign("file:read:user:"+b.token), "content", 200},
		{"path=file&signature_expiration=" + soon + "&signature=" + sign("file:read::"+b.token+":"+soon), "content", 200},
		{"path=file&signature_expiration=" + past + "&signature=" + sign("file:read::"+b.token+":"+past), "signature is already expired", 401},
		{"path=file&signature=" + sign("file:write::"+b.token), "invalid signature", 401},
		{"path=./file&signature=" + sign("file:read::"+b.token), "invalid signature", 401},
		{"path=file", "missing signature", 401},
	} {
		a := b.envd("GET", "/files?"+c.query, "", "X-Access-Token", "", "Accept-Encoding", "identity")
		if a.status != c.status || !strings.Contains(a.body, c.text) {
			t.Errorf("%s: %d %s, want %d %s", c.query, a.status, a.body, c.status, c.text)
		}
	}
}

func TestFilesystem(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	home := strings.TrimSpace(b.run("echo ~; printf 123456 >rel.txt; ln -s rel.txt link; mkdir -p a/b/c"))
	b.envd("POST", "/files?path=meta", "x", "Content-Type", octets, "X-Metadata-Foo", "Bar")
	for _, c := range []struct {
		rpc, message string
		status       int
		text         string
	}{
		{"Stat", `{"path":"rel.txt"}`, 200, `"name":"rel.txt","type":"FILE_TYPE_FILE","path":"` + home + `/rel.txt","size":"6","mode":420,"permissions":"-rw-r--r--"`},
		{"Stat", `{"path":"link"}`, 200, `"FILE_TYPE_SYMLINK"`},
		{"Stat", `{"path":"meta"}`, 200, `"metadata":{"foo":"Bar"}`},
		{"Stat", `{"path":"~/nope"}`, 404, `"code":"not_found"`},
		{"MakeDir", `{"path":"new/deep"}`, 200, `"FILE_TYPE_DIRECTORY"`},
		{"MakeDir", `{"path":"new/deep"}`, 409, `"code":"already_exists"`},
		{"Move", `{"source":"rel.txt","destination":"x/y/moved"}`, 200, `"name":"moved"`},
		{"Move", `{"source":"rel.txt","destination":"z"}`, 404, `"code":"not_found"`},
		{"ListDir", `{"path":"x/y/moved"}`, 400, `"code":"invalid_argument"`},
		{"ListDir", `{"path":"nope"}`, 404, `"code":"not_found"`},
		{"Remove", `{"path":"new"}`, 200, `{}`},
		{"Remove", `{"path":"new"}`, 200, `{}`},
	} {
		a := b.envd("POST", "/filesystem.Filesystem/"+c.rpc, c.message, "Content-Type", "application/json")
		if compact := strings.ReplaceAll(a.body, ": ", ":"); a.status != c.status || !strings.Contains(strings.ReplaceAll(compact, ", ", ","), c.text) {
			t.Errorf("%s %s: %d %s, want %d %s", c.rpc, c.message, a.status, a.body, c.status, c.text)
		}
	}
	for depth, want := range map[uint32]string{0: "b", 1: "b", 2: "b c", 9: "b c"} {
		list, err := b.files.ListDir(b.ctx, connect.NewRequest(&filesystem.ListDirRequest{Path: "a", Depth: depth}))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range list.Msg.GetEntries() {
			names = append(names, e.GetName())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("depth %d: %s, want %s", depth, got, want)
		}
	}
}

func TestWatch(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	b.run("mkdir w")
	stream, err := b.files.WatchDir(b.ctx, connect.NewRequest(&filesystem.WatchDirRequest{Path: "w", Recursive: true, IncludeEntry: true}))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if !stream.Receive() || stream.Msg().GetStart() == nil {
		t.Fatalf("no start: %v", stream.Err())
	}
	poll, err := b.files.CreateWatcher(b.ctx, connect.NewRequest(&filesystem.CreateWatcherRequest{Path: "w"}))
	if err != nil {
		t.Fatal(err)
	}
	await := func(name string, kind filesystem.EventType) *filesystem.FilesystemEvent {
		for stream.Receive() {
			if e := stream.Msg().GetFilesystem(); e.GetName() == name && e.GetType() == kind {
				return e
			}
		}
		t.Fatalf("no %v of %s: %v", kind, name, stream.Err())
		return nil
	}
	b.run("echo 1 >w/f")
	if e := await("f", filesystem.EventType_EVENT_TYPE_CREATE); e.GetEntry().GetName() != "f" {
		t.Errorf("no entry in %v", e)
	}
	await("f", filesystem.EventType_EVENT_TYPE_WRITE)
	b.run("chmod 600 w/f; mv w/f w/g; rm w/g; mkdir w/sub")
	await("f", filesystem.EventType_EVENT_TYPE_CHMOD)
	await("f", filesystem.EventType_EVENT_TYPE_RENAME)
	await("g", filesystem.EventType_EVENT_TYPE_REMOVE)
	await("sub", filesystem.EventType_EVENT_TYPE_CREATE)
	b.run("touch w/sub/deep")
	await("sub/deep", filesystem.EventType_EVENT_TYPE_CREATE)
	seen := make(map[string]bool)
	for !seen["f 1"] || !seen["g 3"] { // bounded by the watchdog, which makes the call fail
		events, err := b.files.GetWatcherEvents(b.ctx, connect.NewRequest(&filesystem.GetWatcherEventsRequest{WatcherId: poll.Msg.GetWatcherId()}))
		if err != nil {
			t.Fatal(err, seen)
		}
		for _, e := range events.Msg.GetEvents() {
			seen[fmt.Sprintf("%s %d", e.GetName(), e.GetType())] = true
		}
	}
	if _, err := b.files.RemoveWatcher(b.ctx, connect.NewRequest(&filesystem.RemoveWatcherRequest{WatcherId: poll.Msg.GetWatcherId()})); err != nil {
		t.Error(err)
	}
	_, err = b.files.GetWatcherEvents(b.ctx, connect.NewRequest(&filesystem.GetWatcherEventsRequest{WatcherId: poll.Msg.GetWatcherId()}))
	if code(err) != "not_found" {
		t.Errorf("events of a removed watcher: %v", err)
	}
}
