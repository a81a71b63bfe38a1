//go:build unix && !remotebox_runner

package daytonatest

import (
	"archive/tar"
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote/internal/needs"
)

// contextTar is a build context: names that end in / are directories, values that begin with -> are links.
func contextTar(t *testing.T, namesAndValues ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for i := 0; i < len(namesAndValues); i += 2 {
		name, value := namesAndValues[i], namesAndValues[i+1]
		h := &tar.Header{Name: name, Mode: 0o755, Size: int64(len(value)), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(value, "->"); ok {
			h.Typeflag, h.Linkname, h.Size, value = tar.TypeSymlink, target, 0, ""
		}
		if strings.HasSuffix(name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func (c *client) build(name, dockerfile string, hashes ...string) Snapshot {
	c.t.Helper()
	c.is(c.api("POST", "/snapshots", fields{"name": name, "buildInfo": fields{"dockerfileContent": dockerfile, "contextHashes": hashes}}), 200, `"state":"pending"`)
	return c.waitSnapshot(name, "active")
}

func TestBuild(t *testing.T) {
	c := newClient(t, Config{})
	if !c.srv.Isolated() {
		needs.Missing(t, "the Dockerfile names absolute paths: needs root and namespaces")
	}
	c.put("h1", contextTar(t, "app/", "", "app/empty/", "", "app/main", "#!/bin/sh\necho main ran\n", "app/link", "->main", "app/sub/x.txt", "x", "app/sub/y.txt", "y"))
	c.put("h2", contextTar(t, "other.txt", "other"))
	c.build("full", `# a comment
ARG BASE=debian:12
FROM ${BASE} AS tools
RUN mkdir /made && echo tool > /made/tool
FROM debian:12
ARG WHO=nobody
ENV GREETING="hello world" PLACE=/srv
WORKDIR /srv/app
COPY app .
COPY other.txt app/sub/*.txt /texts/
COPY --from=tools --chmod=0600 /made/tool /usr/local/share/tool
RUN echo "$GREETING" > greeting && \
    # in between
    echo $WHO >> greeting
RUN ["sh", "-c", "id -un > /who0"]
RUN <<EOF
echo here > /here
EOF
USER daytona
RUN id -un > /tmp/who
ENTRYPOINT ["sleep", "infinity"]
`, "h1", "h2")
	id := c.create(fields{"snapshot": "full", "labels": fields{}})
	c.execOK(id, "pwd; ./main; cat greeting /who0 /tmp/who /here", "/srv/app\nmain ran\nhello world\nnobody\nroot\ndaytona\nhere\n")
	c.execOK(id, "cd /texts && cat *; cat /proc/1/comm >/dev/null; echo $PLACE", "otherxy/srv\n")
	c.execOK(id, "stat -c '%a %U' /usr/local/share/tool; ls /made 2>/dev/null | wc -l", "600 root\n0\n")
	// Directories of the context are skipped, so that empty ones are lost; links become empty files.
	c.execOK(id, "test ! -e empty && test -f link && test ! -L link && stat -c %s link", "0\n")
	if got := c.object(c.api("GET", "/sandbox/"+id, nil)); got["user"] != "daytona" {
		t.Errorf("user %v", got["user"])
	}
	// Sandboxes don't see each other's changes, nor does the snapshot.
	c.execOK(id, "echo changed > /tmp/who; cat /tmp/who", "changed\n")
	other := c.create(fields{"snapshot": "full"})
	c.execOK(other, "cat /tmp/who", "daytona\n")
}

func TestBuildFailures(t *testing.T) {
	c := newClient(t, Config{MissingImages: []string{"nobody/nothing:1"}})
	c.put("empty", nil)
	for i, tt := range []struct{ dockerfile, hash, reason string }{
		{"FROM debian:12\nRUN echo before; exit 5\n", "", "unprocessable entity: The command '/bin/sh -c echo before; exit 5' returned a non-zero code: 5"},
		{"FROM nobody/nothing:1", "", "manifest for nobody/nothing:1 not found"},
		{"FROM debian:12\nCOPY none /\n", "", "file not found in build context"},
		{"FROM debian:12\nFLY away\n", "", "dockerfile parse error line 2: unknown instruction: FLY"},
		{"RUN true", "", "no build stage"},
		{"FROM debian:12", "missing", "failed to get tar from storage with hash missing"},
		{"FROM debian:12", "empty", "EOF"},
	} {
		name := "fail" + string(rune('a'+i))
		info := fields{"dockerfileContent": tt.dockerfile}
		if tt.hash != "" {
			info["contextHashes"] = []string{tt.hash}
		}
		c.is(c.api("POST", "/snapshots", fields{"name": name, "buildInfo": info}), 200)
		if sn := c.waitSnapshot(name, "error"); !strings.Contains(sn.ErrorReason, tt.reason) {
			t.Errorf("%q: %s", tt.dockerfile, sn.ErrorReason)
		}
		c.is(c.api("POST", "/sandbox", fields{"snapshot": name}), 400, "Snapshot "+name+" is error")
	}
}

func TestSnapshotLife(t *testing.T) {
	c := newClient(t, Config{Times: Times{SnapshotRemove: 300 * time.Millisecond}})
	const dockerfile = "FROM debian:12\nRUN echo once\n"
	sn := c.build("one", dockerfile)
	// The same content under another name is active without a build: there is no log.
	twin := c.build("two", dockerfile)
	link := c.object(c.is(c.api("GET", "/snapshots/two/build-logs-url", nil), 200))["url"].(string)
	c.is(c.send(c.ctx, "GET", link, nil), 404)
	link = c.object(c.is(c.api("GET", "/snapshots/one/build-logs-url", nil), 200))["url"].(string)
	c.is(c.send(c.ctx, "GET", link+"?follow=true", nil), 200, "Step 2/2 : RUN echo once", "\nonce\n")
	c.is(c.send(c.ctx, "GET", link, nil, "Authorization", ""), 401)

	dto := c.object(c.is(c.api("GET", "/snapshots/"+sn.ID, nil), 200))
	if dto["mem"] != 1.0 || dto["ref"] == "" || dto["buildInfo"].(fields)["snapshotRef"] != dto["ref"] {
		t.Errorf("snapshot: %v", dto)
	}
	// Deletion keeps the name until it is done.
	c.is(c.api("DELETE", "/snapshots/"+sn.ID, nil), 200)
	c.is(c.api("GET", "/snapshots/one", nil), 200, `"state":"removing"`)
	c.is(c.api("POST", "/snapshots", fields{"name": "one", "imageName": "debian:12"}), 409)
	c.is(c.api("POST", "/sandbox", fields{"snapshot": "one"}), 400, "not found")
	c.waitSnapshot("one", "gone")
	c.is(c.api("GET", "/snapshots/one", nil), 404)

	if err := c.srv.DeactivateSnapshot("two"); err != nil {
		t.Fatal(err)
	}
	c.is(c.api("POST", "/sandbox", fields{"snapshot": "two"}), 400, "Snapshot two is inactive")
	c.is(c.api("POST", "/snapshots/"+twin.ID+"/activate", nil), 200, `"state":"pending"`)
	c.waitSnapshot("two", "active")
	c.create(fields{"snapshot": "two"})
	c.is(c.api("POST", "/snapshots/"+twin.ID+"/deactivate", nil), 204)
	c.is(c.api("POST", "/snapshots/"+twin.ID+"/activate", nil), 400, "10 minutes")
	page := c.object(c.is(c.api("GET", "/snapshots?limit=1&name=t", nil), 200))
	if page["total"].(float64) < 1 {
		t.Errorf("page: %v", page)
	}
	if own := c.srv.Snapshots(); len(own) != 1 || own[0].Name != "two" || own[0].State != "inactive" || own[0].ID != twin.ID {
		t.Errorf("own snapshots: %+v", own)
	}
	c.is(c.api("GET", "/snapshots", nil), 200, "daytona-small", `"general":true`)
}

// Following the log of a failed build never ends by itself.
func TestFailedBuildLogNeverEnds(t *testing.T) {
	c := newClient(t, Config{})
	c.is(c.api("POST", "/snapshots", fields{"name": "f", "buildInfo": fields{"dockerfileContent": "FROM debian:12\nRUN echo tail; false"}}), 200)
	c.waitSnapshot("f", "error")
	link := c.object(c.is(c.api("GET", "/snapshots/f/build-logs-url", nil), 200))["url"].(string)
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", link+"?follow=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.srv.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	ended := make(chan error, 1)
	log := make(chan string, 64)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := res.Body.Read(buf)
			if n > 0 {
				log <- string(buf[:n])
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	var all strings.Builder
	for !strings.Contains(all.String(), "non-zero code: 1") {
		select {
		case part := <-log:
			all.WriteString(part)
		case err := <-ended:
			t.Fatalf("it ended: %v after %q", err, all.String())
		}
	}
	select { // FollowEnd is 20 ms: a log that ends would have
	case err := <-ended:
		t.Fatalf("it ended: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	cancel()
	<-ended
}

func TestDeclaredSandbox(t *testing.T) {
	c := newClient(t, Config{})
	v := c.object(c.is(c.api("POST", "/sandbox", fields{"cpu": 2, "buildInfo": fields{"dockerfileContent": "FROM debian:12\nENV A=1"}}), 200, `"state":"pending_build"`))
	id := v["id"].(string)
	c.wait(id, "started")
	c.execOK(id, "echo $A", "1\n")
	link := c.object(c.is(c.api("GET", "/sandbox/"+id+"/build-logs-url", nil), 200))["url"].(string)
	c.is(c.send(c.ctx, "GET", link, nil), 200, "Step 1/2")
	v = c.object(c.is(c.api("POST", "/sandbox", fields{"buildInfo": fields{"dockerfileContent": "FROM debian:12\nRUN false"}}), 200))
	c.wait(v["id"].(string), "build_failed")
	c.is(c.api("DELETE", "/sandbox/"+v["id"].(string), nil), 200)
}

func TestSnapshotOfASandbox(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	c.execOK(id, "echo mine > file", "")
	c.is(c.api("POST", "/sandbox/"+id+"/snapshot", fields{"name": "copy"}), 200)
	c.waitSnapshot("copy", "active")
	c.wait(id, "started")
	c.execOK(id, "echo changed > file", "")
	c.execOK(c.create(fields{"snapshot": "copy"}), "cat file", "mine\n")
}

// A snapshot that is deleted while it is built does not come back when the build ends.
func TestDeleteDuringABuild(t *testing.T) {
	c := newClient(t, Config{Times: Times{SnapshotRemove: 400 * time.Millisecond}})
	c.is(c.api("POST", "/snapshots", fields{"name": "d", "buildInfo": fields{"dockerfileContent": "FROM debian:12\nRUN sleep 0.2"}}), 200)
	sn := c.waitSnapshot("d", "building")
	c.is(c.api("DELETE", "/snapshots/"+sn.ID, nil), 200)
	var seen []string
	if !c.srv.await(c.ctx, 20*time.Second, func() bool {
		sn, err := c.srv.findSnapshot("d")
		if err == nil {
			seen = append(seen, sn.state)
		}
		return err != nil
	}) {
		t.Fatal("the snapshot stays")
	}
	if i := slices.IndexFunc(seen, func(state string) bool { return state != "removing" }); i >= 0 {
		t.Errorf("states %v", seen)
	}
}
