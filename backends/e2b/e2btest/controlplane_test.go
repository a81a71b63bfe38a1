//go:build linux && !remotebox_runner

package e2btest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/remote-box/remote/backends/e2b/e2btest"
)

// The answers are those seen from the real servers.
func TestGoldenRefusals(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	b := r.create("")
	const schema = "validation error: error in openapi3filter.RequestError: "
	for _, c := range []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"POST", "/sandboxes", `{}`, 400, `doesn't match schema #/components/schemas/NewSandbox: Error at \"/templateID\": property \"templateID\" is missing`},
		{"POST", "/sandboxes", ``, 400, schema + "request body has an error: value is required but missing"},
		{"POST", "/sandboxes", `{"templateID":"base:nope"}`, 404, `{"code":404,"message":"tag 'nope' does not exist for template 'base'"}`},
		{"POST", "/sandboxes", `{"templateID":"bad name!"}`, 400, `{"code":400,"message":"Invalid template reference: invalid template ID: bad name!"}`},
		{"POST", "/sandboxes", `{"templateID":"nothere"}`, 404, "template 'nothere' not found"},
		{"POST", "/sandboxes", `{"templateID":"base","timeout":4000}`, 400, "Timeout cannot be greater than 1 hours"},
		{"POST", "/sandboxes", `{"templateID":"base","timeout":0}`, 400, "Timeout must be greater than 0"},
		{"POST", "/sandboxes", `{"templateID":"base","timeout":"1"}`, 400, "value must be an integer"},
		{"POST", "/sandboxes", `{"templateID":"base","metadata":{"a":1}}`, 400, `Error at \"/metadata/a\": value must be a string`},
		{"POST", "/sandboxes", `{"templateID":"base","autoPauseMemory":false}`, 400, "autoPauseMemory"},
		{"POST", "/sandboxes", `{"templateID":"base","network":{"allowPublicTraffic":false}}`, 400, "secured"},
		{"POST", "/sandboxes", `{"templateID":"base","network":{"allowOut":["example.com"]}}`, 400, "deny out"},
		{"POST", "/sandboxes/ID/connect", `{}`, 400, `Error at \"/timeout\": property \"timeout\" is missing`},
		{"POST", "/sandboxes/ID/connect", ``, 400, "value is required but missing"},
		{"POST", "/sandboxes/ID/resume", `{}`, 409, "Sandbox ID is already running"},
		{"POST", "/sandboxes/ID/refreshes", `{"duration":3601}`, 400, "number must be at most 3600"},
		{"GET", "/sandboxes/nonsense", ``, 400, "Invalid sandbox ID"},
		{"GET", "/sandboxes/i0123456789abcdefghij", ``, 404, `Sandbox \"i0123456789abcdefghij\" doesn't exist or you don't have access to it`},
		{"GET", "/v2/sandboxes?limit=101", ``, 400, `parameter \"limit\" in query has an error: number must be at most 100`},
		{"GET", "/v2/sandboxes?nextToken=x", ``, 400, "Invalid next token"},
		{"GET", "/v2/sandboxes?metadata=a%3Db%3Dc", ``, 400, "Error parsing metadata"},
		{"GET", "/no/such/path", ``, 404, "no matching operation was found"},
		{"POST", "/v3/templates", `{}`, 400, "Name is required"},
		{"POST", "/v3/templates", `{"name":"x","cpuCount":3}`, 400, "CPU count must be 1 or an even number"},
		{"POST", "/v3/templates", `{"name":"x","cpuCount":64}`, 400, "must be at most 32"},
		{"POST", "/v3/templates", `{"name":"x","memoryMB":129}`, 400, "Memory must be divisible by 2"},
		{"POST", "/v3/templates", `{"name":"a/b"}`, 400, "namespace 'a' must match your team 'local-dev-team'"},
		{"POST", "/v3/templates", `{"name":"x","tags":["123e4567-e89b-42d3-a456-426614174000"]}`, 400, "tag cannot be a UUID"},
		{"POST", "/v3/templates", `{"name":"` + strings.Repeat("n", 129) + `"}`, 400, "maximum string length is 128"},
		{"GET", "/templates/basetemplateid000000/files/XYZ", ``, 400, "Invalid files hash"},
		{"DELETE", "/templates/tags", `{"name":"base","tags":["default"]}`, 400, "Cannot delete the 'default' tag"},
		{"POST", "/templates/tags", `{"target":"base:zz","tags":["y"]}`, 404, "Template 'base:zz' with tag 'zz' not found"},
		{"GET", "/templates/aliases/nothere", ``, 404, "not found"},
		{"GET", "/templates/aliases/base", ``, 200, "basetemplateid000000"},
	} {
		id := func(s string) string { return strings.ReplaceAll(s, "ID", b.id) }
		path := c.path
		if strings.HasPrefix(path, "/sandboxes/ID") {
			path = id(path)
		}
		text := c.text
		if strings.HasPrefix(text, "Sandbox ID") {
			text = id(text)
		}
		r.want(c.method, path, c.body, c.status, text)
	}
}

func TestKeyIsCheckedFirst(t *testing.T) {
	r := newRig(t, e2btest.Config{Key: "any form of key"})
	for key, want := range map[string]string{"": `{"code":401,"message":"authorization header is missing"}`, "e2b_wrong": "Invalid API key, please visit"} {
		a, err := r.send(r.request("POST", r.srv.APIURL()+"/sandboxes", "", "X-API-KEY", key))
		if err != nil {
			t.Fatal(err)
		}
		if a.status != 401 || !strings.Contains(a.body, want) {
			t.Errorf("key %q: %d %s", key, a.status, a.body)
		}
	}
	a, err := r.send(r.request("POST", r.srv.APIURL()+"/sandboxes", `{"templateID":"base"}`, "X-API-KEY", "any form of key"))
	if err != nil {
		t.Fatal(err)
	}
	if a.status != 400 || !strings.Contains(a.body, "Content-Type") {
		t.Errorf("a body without a type: %d %s", a.status, a.body)
	}
}

func TestOldServer(t *testing.T) {
	r := newRig(t, e2btest.Config{OldServer: true})
	r.want("POST", "/v2/sandboxes", `{"templateID":"base"}`, 404, `{"code":404,"message":"validation error: method not allowed"}`)
	r.want("GET", "/v2/sandboxes", "", 200, "[]")
	b := r.create("")
	r.want("POST", "/v2/sandboxes/"+b.id+"/connect", `{}`, 404, "no matching operation was found")
	a := r.want("GET", "/templates/base/files/"+strings.Repeat("a", 64), "", 201, `"present":false`)
	if strings.Contains(a.body, "headers") {
		t.Errorf("an old server sends no headers for an upload: %s", a.body)
	}
}

func TestCreationAnswer(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	a := r.want("POST", "/sandboxes", `{"templateID":"base","timeout":60,"secure":true,"metadata":{"a":"1"},"unknown":1}`, 201, "")
	var got map[string]string
	if err := json.Unmarshal([]byte(a.body), &got); err != nil {
		t.Fatal(err)
	}
	if len(got["sandboxID"]) != 21 || len(got["envdAccessToken"]) != 64 {
		t.Errorf("id and token: %v", got)
	}
	delete(got, "sandboxID")
	delete(got, "envdAccessToken")
	want := map[string]string{"alias": "base", "clientID": "6532622b", "envdVersion": "0.6.13", "templateID": "basetemplateid000000"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	insecure := r.want("POST", "/sandboxes", `{"templateID":"base"}`, 201, "")
	if strings.Contains(insecure.body, "envdAccessToken") {
		t.Errorf("a token without secure: %s", insecure.body)
	}
	r.want("POST", "/v2/sandboxes", `{"templateID":"LOCAL-dev-team/Base"}`, 201, "envdAccessToken")
}

func TestLifetimes(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	left := func(id string) int {
		end, err := time.Parse(time.RFC3339, r.want("GET", "/sandboxes/"+id, "", 200, "").text(r, "endAt"))
		if err != nil {
			t.Fatal(err)
		}
		return int((time.Until(end) + 2*time.Second) / (10 * time.Second) * 10) // in tens, for slow machines
	}
	v1 := r.want("POST", "/sandboxes", `{"templateID":"base","timeout":900}`, 201, "").text(r, "sandboxID")
	for _, step := range []struct {
		path, body string
		status     int
		left       int
	}{
		{"", "", 200, 900},
		{"/connect", `{"timeout":60}`, 200, 900}, // never shorter
		{"/connect", `{"timeout":1800}`, 200, 1800},
		{"/timeout", `{"timeout":300}`, 204, 300}, // may be shorter
		{"/refreshes", `{"duration":60}`, 204, 300},
		{"/refreshes", `{"duration":600}`, 204, 600},
		{"/timeout", `{"timeout":99999}`, 204, 3600}, // cut to the plan
	} {
		if step.path != "" {
			r.want("POST", "/sandboxes/"+v1+step.path, step.body, step.status, "")
		}
		if got := left(v1); got != step.left && got != step.left-10 {
			t.Errorf("after %s %s: %d s left, want %d", step.path, step.body, got, step.left)
		}
	}
	v2 := r.want("POST", "/v2/sandboxes", `{"templateID":"base"}`, 201, "").text(r, "sandboxID")
	if got := left(v2); got != 300 && got != 290 {
		t.Errorf("default of version 2: %d s", got)
	}
}

func TestExpiry(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	for _, c := range []struct {
		fields string
		status int
	}{{"", 404}, {`,"autoPause":true`, 200}} {
		b := r.open(r.want("POST", "/sandboxes", `{"templateID":"base","secure":true,"timeout":1`+c.fields+`}`, 201, ""))
		p := b.start("sleep 1000")
		if event := p.next(); event != nil || p.stream.Err() == nil {
			t.Errorf("expiry %s: %v, %v; want a cut stream", c.fields, event, p.stream.Err())
		}
		// The stream is cut before the state is the new one for everyone to see.
		a := r.api("GET", "/sandboxes/"+b.id, "")
		for a.status == 200 && a.text(r, "state") == "running" && r.ctx.Err() == nil {
			a = r.api("GET", "/sandboxes/"+b.id, "")
		}
		if a.status != c.status {
			t.Errorf("expiry %s: %d %s", c.fields, a.status, a.body)
		}
	}
}

func TestPauseAndConnect(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	b := r.create(`"metadata":{"k":"v"}`)
	path := "/sandboxes/" + b.id
	p := b.start("echo ready; read _ < <(sleep 1000); exit 9")
	p.line()
	r.want("POST", path+"/pause", "", 204, "")
	if event := p.next(); event != nil || p.stream.Err() == nil {
		t.Errorf("the stream goes on: %v, %v", event, p.stream.Err())
	}
	r.want("POST", path+"/pause", "", 409, "Error pausing sandbox - sandbox '"+b.id+"' is already paused")
	r.want("POST", path+"/timeout", `{"timeout":60}`, 404, `Sandbox \"`+b.id+`\" doesn't exist or you don't have access to it`)
	r.want("POST", path+"/fork", `{}`, 409, "is paused and cannot be forked; resume it first")
	r.want("GET", path, "", 200, `"state":"paused"`)
	if a := b.envd("GET", "/health", ""); a.status != 502 || !strings.Contains(a.body, "The sandbox was not found") {
		t.Errorf("paused: %d %s", a.status, a.body)
	}
	a := r.want("POST", path+"/connect", `{"timeout":120}`, 201, b.id)
	if a.text(r, "envdAccessToken") != b.token {
		t.Error("another token after connect")
	}
	r.want("POST", path+"/connect", `{"timeout":120}`, 200, b.id)
	if got := b.run(fmt.Sprintf("kill -9 $(pgrep -x sleep -P %d) $(pgrep -x sleep); echo done", p.pid)); got != "done\n" {
		t.Error(got)
	}
	stream := b.connect(p.pid)
	var end bool
	for stream.Receive() {
		if e := stream.Msg().GetEvent().GetEnd(); e != nil {
			end = true
			if e.GetExitCode() != 9 {
				t.Errorf("exit code %d, want 9", e.GetExitCode())
			}
		}
	}
	if !end {
		t.Errorf("no end after the pause: %v", stream.Err())
	}
	// Without memory the processes are gone, the files are not.
	b.run("echo kept > kept")
	gone := b.start("sleep 1000")
	r.want("POST", path+"/pause", `{"memory":false}`, 204, "")
	r.want("POST", path+"/resume", `{"timeout":60}`, 201, b.id)
	if got := b.run("cat kept"); got != "kept\n" {
		t.Error(got)
	}
	if err := b.signal(gone.pid, 9); code(err) != "not_found" {
		t.Errorf("a process outlived a cold boot: %v", err)
	}
	r.want("POST", path+"/pause", "", 204, "")
	r.want("DELETE", path, "", 204, "")
	r.want("DELETE", path, "", 404, "")
}

func TestLimits(t *testing.T) {
	r := newRig(t, e2btest.Config{MaxSandboxes: 1, MaxBuilds: 1})
	b := r.create("")
	a := r.want("POST", "/sandboxes", `{"templateID":"base"}`, 429, "you have reached the maximum number of concurrent E2B sandboxes (1)")
	if a.header.Get("Retry-After") != "" {
		t.Error("a limit of concurrency has no Retry-After")
	}
	r.want("POST", "/sandboxes/"+b.id+"/pause", "", 204, "")
	other := r.create("")
	r.want("POST", "/sandboxes/"+b.id+"/connect", `{"timeout":60}`, 429, "maximum number")
	r.want("DELETE", "/sandboxes/"+other.id, "", 204, "")
	r.want("POST", "/sandboxes/"+b.id+"/connect", `{"timeout":60}`, 201, "")

	rated := newRigIn(r, e2btest.Config{CreateRate: 1})
	rated.create("")
	a = rated.want("POST", "/sandboxes", `{"templateID":"base"}`, 429, `{"code":429,"message":"Rate limit exceeded"}`)
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
}

func TestList(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	var all []string
	for i := range 5 {
		all = append(all, r.create(fmt.Sprintf(`"metadata":{"n":"%d","odd":"a b=c&d"}`, i)).id)
	}
	r.want("POST", "/sandboxes/"+all[4]+"/pause", "", 204, "")
	list := func(query string) (ids []string, header http.Header) {
		a := r.want("GET", "/v2/sandboxes?"+query, "", 200, "")
		var items []struct{ SandboxID string }
		if err := json.Unmarshal([]byte(a.body), &items); err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			ids = append(ids, item.SandboxID)
		}
		return ids, a.header
	}
	var paged []string
	next := ""
	for {
		ids, header := list("order=asc&limit=2&nextToken=" + url.QueryEscape(next))
		paged = append(paged, ids...)
		if next = header.Get("X-Next-Token"); next == "" {
			if got := header.Get("X-Total-Running"); got != "4" {
				t.Errorf("X-Total-Running %s", got)
			}
			break
		}
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Error(diff)
	}
	if ids, _ := list(""); len(ids) != 5 || ids[4] != all[0] {
		t.Errorf("the newest first: %v", ids)
	}
	if ids, _ := list("state=paused"); !slices.Equal(ids, all[4:]) {
		t.Errorf("paused: %v", ids)
	}
	odd := url.QueryEscape("odd") + "=" + url.QueryEscape("a b=c&d")
	if ids, _ := list("metadata=" + url.QueryEscape(url.QueryEscape(odd))); len(ids) != 5 {
		t.Errorf("three layers of escapes: %v", ids)
	}
	r.want("GET", "/v2/sandboxes?metadata="+url.QueryEscape(odd), "", 400, "Error parsing metadata")
	if ids, _ := list("metadata=n%3D3"); !slices.Equal(ids, all[3:4]) {
		t.Errorf("n=3: %v", ids)
	}
	if ids, _ := list("template=nothere"); len(ids) != 0 {
		t.Errorf("of an unknown template: %v", ids)
	}
	boxes := r.srv.Sandboxes()
	if len(boxes) != 5 || boxes[0].Metadata["n"] != "0" {
		t.Errorf("Sandboxes: %v", boxes)
	}
}
