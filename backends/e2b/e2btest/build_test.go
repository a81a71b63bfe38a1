//go:build linux && !remotebox_runner

package e2btest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// build registers a build and starts it.
func (r *rig) build(name, start string) (status string) {
	r.Helper()
	a := r.want("POST", "/v3/templates", `{"name":"`+name+`"}`, 202, "templateID")
	path := "/templates/" + a.text(r, "templateID") + "/builds/" + a.text(r, "buildID")
	if a := r.want("POST", "/v2"+path, start, 202, ""); a.body != "" || a.header.Get("Content-Length") != "0" {
		r.Errorf("202 with %q, length %s", a.body, a.header.Get("Content-Length"))
	}
	return path + "/status"
}

// await polls a build until it has ended.
func (r *rig) await(status string) reply {
	r.Helper()
	for {
		a := r.want("GET", status, "", 200, "")
		switch a.text(r, "status") {
		case "ready", "error":
			return a
		}
	}
}

// archive is a build context: names ending in a slash are directories.
func archive(t *testing.T, files ...string) string {
	t.Helper()
	var buf bytes.Buffer
	packer := gzip.NewWriter(&buf)
	w := tar.NewWriter(packer)
	for _, name := range files {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(name)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(name, "/") {
			header.Mode, header.Size, header.Typeflag = 0o755, 0, tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if header.Size > 0 {
			io.WriteString(w, name)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packer.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// upload puts a context into the storage and returns its hash.
func (r *rig) upload(digit, content string) string {
	r.Helper()
	hash := strings.Repeat(digit, 64)
	link := r.want("GET", "/templates/base/files/"+hash, "", 201, `"present":false`)
	req := r.request("PUT", link.text(r, "url"), content)
	for name, value := range link.json(r, "headers").(map[string]any) {
		req.Header.Set(name, value.(string))
	}
	if a, err := r.send(req); err != nil || a.status != 200 {
		r.Fatalf("upload: %v %d %s", err, a.status, a.body)
	}
	r.want("GET", "/templates/base/files/"+hash, "", 201, `"present":true`)
	return hash
}

func TestBuild(t *testing.T) {
	r := newRig(t, e2btest.Config{}).confined()
	one := r.upload("1", archive(t, "app/", "app/main.go", "app/sub/", "app/sub/x"))
	two := r.upload("2", archive(t, "run.sh"))
	steps := []string{
		`{"type":"ENV","args":["A","1","B","$A-$(id)"]}`,
		`{"type":"RUN","args":["id -un; echo $A $B >/opt/env; mkdir -p /app && touch /app/old"]}`,
		`{"type":"COPY","args":["app","/app","",""],"filesHash":"` + one + `"}`,
		`{"type":"COPY","args":["app","/tmp/","",""],"filesHash":"` + one + `"}`,
		`{"type":"USER","args":["worker"]}`,
		`{"type":"WORKDIR","args":["/srv/work"]}`,
		`{"type":"COPY","args":["run.sh","bin/","","0755"],"filesHash":"` + two + `"}`,
		`{"type":"COPY","args":["app/*.go","/renamed","user",""],"filesHash":"` + one + `"}`,
		`{"type":"RUN","args":["touch mine; id -un"]}`,
		`{"type":"RUN","args":["id -un","root"]}`,
		`{"type":"RUN","args":["echo changed >/usr/local/share/e2btest","root"]}`,
	}
	status := r.build("full", `{"fromImage":"debian:12","steps":[`+strings.Join(steps, ",")+`],"startCmd":"sleep 12345","readyCmd":"pgrep -f 12345"}`)
	a := r.await(status)
	if a.text(r, "status") != "ready" {
		t.Fatal(a.body)
	}
	for _, line := range []string{"[builder 1/11] ENV [A 1 B $A-$(id)]", "[builder 2/11] [stdout]: root", "[builder 9/11] [stdout]: worker", "[builder 10/11] [stdout]: root"} {
		if !strings.Contains(a.body, line) {
			t.Errorf("no log line %s in %s", line, a.body)
		}
	}
	b := r.open(r.want("POST", "/sandboxes", `{"templateID":"full","secure":true,"envVars":{"A":"2"}}`, 201, ""))
	got := b.run(`whoami; pwd; cat /opt/env; find /tmp -maxdepth 0 -printf '%p %u %m\n'; find /app /renamed bin mine -printf '%p %u %m\n' | sort; cat /usr/local/share/e2btest; echo $A; pgrep -f 12345 >/dev/null && tr '\0' '\n' </proc/$(pgrep -xf 'sleep 12345')/environ | grep ^A=`)
	want := `worker
/srv/work
1 -$(id)
/tmp root 1777
/app root 755
/app/main.go root 644
/app/old root 644
/app/sub root 755
/app/sub/x root 644
/renamed root 755
/renamed/main.go user 644
/renamed/sub user 755
/renamed/sub/x user 644
bin root 755
bin/run.sh worker 755
mine worker 644
changed
2
A=1
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if other := r.create(""); strings.TrimSpace(other.run("ls /app /usr/local/share/e2btest 2>&1 | grep -c 'No such'")) != "2" {
		t.Error("files of one template are in another")
	}
	child := r.await(r.build("child", `{"fromTemplate":"full","steps":[{"type":"RUN","args":["rm /opt/env; echo $A >by-child","root"]}],"startCmd":"","readyCmd":""}`))
	if child.text(r, "status") != "ready" {
		t.Fatal(child.body)
	}
	b = r.open(r.want("POST", "/sandboxes", `{"templateID":"child","secure":true}`, 201, ""))
	if got := b.run("cat by-child; ls /opt /app"); got != "1\n/app:\nmain.go\nold\nsub\n\n/opt:\n" {
		t.Errorf("%q", got)
	}
}

func TestFailedBuilds(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	run := func(script string) string { return fmt.Sprintf(`{"type":"RUN","args":[%q]}`, script) }
	for i, c := range []struct{ start, step, message string }{
		{`{"fromImage":"x","steps":[` + run("true") + `,` + run("true") + `,` + run("true") + `,` + run("exit 1") + `]}`, "4", "failed to run command 'exit 1': exit status 1"},
		{`{"fromTemplate":"nothere"}`, "base", "template 'nothere' not found"},
		{`{"fromImage":"x","steps":[{"type":"LABEL","args":["a"]}]}`, "1", "command type LABEL is not implemented"},
		{`{"fromImage":"x","steps":[{"type":"COPY","args":["a","b"],"filesHash":"` + strings.Repeat("f", 64) + `"}]}`, "1", "no files for hash"},
		{`{"fromImage":"x","startCmd":"echo broken; exit 5","readyCmd":"false"}`, "finalize", "exit status 5"},
	} {
		name := fmt.Sprintf("failed-%d", i)
		a := r.await(r.build(name, c.start))
		if a.text(r, "status") != "error" || a.text(r, "reason.step") != c.step || !strings.Contains(a.text(r, "reason.message"), c.message) || !strings.Contains(a.body, `"logEntries":null`) {
			t.Errorf("%s: %s", c.start, a.body)
		}
		r.want("POST", "/sandboxes", `{"templateID":"`+name+`"}`, 404, "tag 'default' does not exist for template '"+name+"'")
		r.want("GET", "/templates/aliases/"+name, "", 200, "") // the name is taken all the same
		r.want("GET", "/templates/aliases/"+name+":default", "", 404, "")
	}
}

func TestBuildStates(t *testing.T) {
	r := newRig(t, e2btest.Config{MaxBuilds: 1})
	a := r.want("POST", "/v3/templates", `{"name":"my-tpl:v1","tags":["x.y"],"cpuCount":2,"memoryMB":1024}`, 202, `"tags":["x.y","v1"]`)
	id := a.text(r, "templateID")
	path := "/templates/" + id + "/builds/" + a.text(r, "buildID")
	r.want("GET", path+"/status", "", 200, `"status":"waiting"`)
	r.want("GET", "/templates/"+id+"/builds/123e4567-e89b-42d3-a456-426614174000/status", "", 400, "Build '123e4567-e89b-42d3-a456-426614174000' not found")
	r.want("POST", "/v2"+path, `{"fromImage":"x","fromTemplate":"y"}`, 400, "exactly one")
	r.want("POST", "/v2"+path, `{"fromImage":"x","steps":[{"type":"RUN","args":["sleep 1000"]}]}`, 202, "")
	r.want("POST", "/v2"+path, `{"fromImage":"x"}`, 400, "build is not in waiting state")
	if a := r.want("POST", "/v3/templates", `{"name":"other"}`, 429, "maximum number of concurrent template builds (1)"); a.header.Get("Retry-After") != "" {
		t.Error("a limit of concurrency has no Retry-After")
	}
	r.want("DELETE", "/templates/"+id, "", 204, "")
	r.want("DELETE", "/templates/"+id, "", 404, "")

	old := r.want("POST", "/v3/templates", `{"name":"again"}`, 202, "")
	next := r.want("POST", "/v3/templates", `{"name":"again"}`, 202, "")
	if old.text(r, "templateID") != next.text(r, "templateID") {
		t.Error("one name, two templates")
	}
	r.want("GET", "/templates/again/builds/"+old.text(r, "buildID")+"/status", "", 200, "superseded")
	r.want("POST", "/v2/templates/again/builds/"+next.text(r, "buildID"), `{"fromImage":"x"}`, 202, "")
	r.await("/templates/again/builds/" + next.text(r, "buildID") + "/status")
	r.want("POST", "/templates/tags", `{"target":"again","tags":["v2"]}`, 201, next.text(r, "buildID"))
	r.want("GET", "/templates/again/tags", "", 200, `"tag":"v2"`)
	r.want("DELETE", "/templates/tags", `{"name":"again","tags":["v2"]}`, 204, "")
	r.want("POST", "/sandboxes", `{"templateID":"again:v2"}`, 404, "tag 'v2' does not exist")
	r.want("GET", "/v2/templates", "", 200, `"local-dev-team/again"`)
	r.want("GET", "/templates/again", "", 200, `"builds":[`)
}

func TestUploadIsParticular(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	link := r.want("GET", "/templates/base/files/"+strings.Repeat("a", 64), "", 201, "url")
	req, err := http.NewRequestWithContext(r.ctx, "PUT", link.text(r, "url"), struct{ io.Reader }{strings.NewReader("chunked")})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := r.send(req); err != nil || a.status != http.StatusNotImplemented {
		t.Errorf("chunked: %v, %d %s", err, a.status, a.body)
	}
	if a, err := r.send(r.request("PUT", link.text(r, "url"), "x")); err != nil || a.status == 200 {
		t.Errorf("without the headers of the link: %v, %d", err, a.status)
	}
	// Google's links are signed for a Content-Type, which is none here.
	if a, err := r.send(r.request("PUT", link.text(r, "url"), "x", "X-Ms-Blob-Type", "BlockBlob", "Content-Type", "application/octet-stream")); err != nil || a.status != http.StatusForbidden {
		t.Errorf("with a Content-Type that the link does not name: %v, %d %s", err, a.status, a.body)
	}
	r.want("GET", "/templates/base/files/"+strings.Repeat("a", 64), "", 201, `"present":false`)
}

func TestSnapshotAndFork(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	b.run("echo kept >file")
	snapshot := b.want("POST", "/sandboxes/"+b.id+"/snapshots", `{"name":"snap"}`, 201, `"names":["local-dev-team/snap"]`).text(b.rig, "snapshotID")
	b.want("GET", "/snapshots?sandboxID="+b.id, "", 200, snapshot)
	b.run("echo later >file")
	copied := b.open(b.want("POST", "/sandboxes", `{"templateID":"`+snapshot+`","secure":true}`, 201, ""))
	if got := copied.run("cat file; echo own >file; cat file"); got != "kept\nown\n" {
		t.Errorf("%q", got)
	}
	b.want("DELETE", "/templates/local-dev-team%2Fsnap%3Adefault", "", 204, "")
	forks := b.want("POST", "/sandboxes/"+b.id+"/fork", `{"count":2}`, 201, "sandboxID")
	if strings.Count(forks.body, `"sandbox":`) != 2 {
		t.Errorf("forks: %s", forks.body)
	}
	if got := b.run("cat file"); got != "later\n" {
		t.Errorf("%q", got)
	}
}
