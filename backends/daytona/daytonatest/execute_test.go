//go:build unix && !remotebox_runner

package daytonatest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/remote-box/remote/internal/needs"
)

func TestExecute(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	run := func(body fields) answer { return c.box(id, "POST", "/process/execute", body) }
	for _, tt := range []struct {
		name   string
		body   fields
		status int
		want   string
	}{
		{"merged output", fields{"command": "echo a; echo b >&2; echo c"}, 200, `{"exitCode":0,"result":"a\nb\nc\n"}`},
		{"exit code", fields{"command": "exit 7"}, 200, `{"exitCode":7,"result":""}`},
		{"killed", fields{"command": "kill -9 $$"}, 200, `{"exitCode":-1,"result":""}`},
		{"invalid UTF-8", fields{"command": `printf 'a\377\376b'`}, 200, `{"exitCode":0,"result":"a\ufffd\ufffdb"}`},
		{"environment", fields{"command": "echo $A", "envs": fields{"A": "x y"}}, 200, `{"exitCode":0,"result":"x y\n"}`},
		{"bad name", fields{"command": "true", "envs": fields{"A B": "x"}}, 400, "environment variable"},
		{"blank", fields{"command": " \n"}, 400, "empty command"},
		{"no directory", fields{"command": "true", "cwd": "/no/such"}, 200, `"exitCode":-1`},
		// The script is the shell's standard input, so a child that reads it eats what follows.
		{"eaten", fields{"command": "echo one\ncat >/dev/null\necho two\n"}, 200, `{"exitCode":0,"result":"one\n"}`},
		{"not eaten", fields{"command": "echo one\ncat </dev/null\necho two\n"}, 200, `{"exitCode":0,"result":"one\ntwo\n"}`},
		{"timeout", fields{"command": "echo lost; sleep 300", "timeout": 0.2}, 408, "command execution timeout"},
		{"timeout of a group", fields{"command": "(sleep 300; echo x) | cat", "timeout": 0.2}, 408, "PROCESS_EXECUTION_TIMEOUT"},
	} {
		a := run(tt.body)
		got := strings.TrimSpace(string(a.body))
		if a.status != tt.status || !strings.Contains(got, tt.want) || strings.Contains(got, "lost") {
			t.Errorf("%s: %d %s, want %d %s", tt.name, a.status, got, tt.status, tt.want)
		}
	}
	// No limit from argv.
	long := ": " + strings.Repeat("x", 3<<20) + "\necho done"
	c.execOK(id, long, "done\n")
	c.is(c.box(id, "POST", "/process/execute", strings.NewReader("{")), 400, "INVALID_REQUEST_BODY")
	c.is(c.box(id, "GET", "/nothing", nil), 404)
	c.is(c.box(id, "GET", "/version", nil, "Authorization", "Bearer wrong"), 401)
}

// A client that goes away does not end the command.
func TestExecuteOutlivesItsClient(t *testing.T) {
	c := newClient(t, Config{})
	id := c.create(fields{})
	ctx, cancel := context.WithCancel(c.ctx)
	gone := make(chan answer)
	go func() {
		gone <- c.send(ctx, "POST", c.srv.ToolboxURL()+"/"+id+"/process/execute",
			fields{"command": "touch started; until test -e go; do sleep 0.01; done; echo finished > result"})
	}()
	c.poll("the command runs", func() bool { return c.box(id, "GET", "/files/info?path=started", nil).status == 200 })
	cancel()
	if a := <-gone; a.err == nil {
		t.Fatal("the client is still there")
	}
	c.execOK(id, "touch go", "")
	c.poll("the command ends", func() bool {
		a := c.box(id, "GET", "/files/download?path=result", nil)
		return a.status == 200 && string(a.body) == "finished\n"
	})
}

func TestPorts(t *testing.T) {
	for name, cfg := range modes() {
		t.Run(name, func(t *testing.T) { testPorts(t, cfg) })
	}
}

func testPorts(t *testing.T, cfg Config) {
	c := newClient(t, cfg)
	id := c.create(fields{})
	port := c.serveHTTP(id, 0)
	if port == "" {
		needs.Missing(t, "needs python3 as a server")
	}
	c.is(c.box(id, "GET", "/port", nil), 200, port)
	c.is(c.box(id, "GET", "/proxy/"+port+"/some/path?q=1", nil, "X-Mine", "yes"), 200, "/some/path?q=1 yes None") // the key stays outside
	c.is(c.box(id, "GET", "/proxy/1/", nil), 502)
	c.is(c.box(id, "GET", "/port/80/in-use", nil), 400)
	c.is(c.box(id, "GET", "/port/3999/in-use", nil), 200, `{"isInUse":false}`)

	link := c.object(c.is(c.api("GET", "/sandbox/"+id+"/ports/"+port+"/preview-url", nil), 200))
	url, token := link["url"].(string), link["token"].(string)
	c.is(c.send(c.ctx, "GET", url+"a", nil, "Authorization", "", "X-Daytona-Preview-Token", token), 200, "/a None None")
	c.is(c.send(c.ctx, "GET", url+"a", nil), 200, "/a None None") // with the key, which stays outside
	c.is(c.send(c.ctx, "GET", url+"a", nil, "Authorization", ""), 401)
	signed := c.object(c.is(c.api("GET", "/sandbox/"+id+"/ports/"+port+"/signed-preview-url?expiresInSeconds=60", nil), 200))
	c.is(c.send(c.ctx, "GET", signed["url"].(string)+"b", nil, "Authorization", ""), 200, "/b None None")
	c.is(c.api("POST", "/sandbox/"+id+"/ports/"+port+"/signed-preview-url/"+signed["token"].(string)+"/expire", nil), 200)
	c.is(c.send(c.ctx, "GET", signed["url"].(string)+"b", nil, "Authorization", ""), 401)
	c.is(c.api("GET", "/sandbox/"+id+"/ports/"+port+"/signed-preview-url?expiresInSeconds=999999", nil), 400)
}

// serveHTTP starts a server in the sandbox that answers with what it was asked, on any port if port is 0, and returns its port; "" when
// there is nothing to make one of.
func (c *client) serveHTTP(id string, port int) string {
	c.t.Helper()
	if code, _ := c.exec(id, "python3 -c pass"); code != 0 {
		return ""
	}
	c.execOK(id, `cat >serve.py <<'EOF'
import http.server, os, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
        self.wfile.write((self.path + " " + str(self.headers.get("X-Mine")) + " " + str(self.headers.get("Authorization"))).encode())
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H)
open("port.new", "w").write(str(s.server_port))
os.rename("port.new", "port")
s.serve_forever()
EOF
`+fmt.Sprintf("python3 serve.py %d </dev/null >/dev/null 2>&1 &", port), "")
	var got string
	c.poll("the server listens", func() bool {
		a := c.box(id, "GET", "/files/download?path=port", nil)
		got = string(a.body)
		return a.status == 200
	})
	return got
}

// With networks of their own two sandboxes listen on one port, and neither reaches the host.
func TestPrivateNetwork(t *testing.T) {
	c := newClient(t, Config{})
	if !c.srv.Isolated() {
		needs.Missing(t, "needs root and namespaces")
	}
	a, b := c.create(fields{"networkBlockAll": true}), c.create(fields{"networkBlockAll": true})
	for _, id := range []string{a, b} {
		if c.serveHTTP(id, 8080) == "" {
			needs.Missing(t, "needs python3 as a server")
		}
		c.is(c.box(id, "GET", "/port", nil), 200, "8080")
	}
	c.is(c.box(a, "GET", "/proxy/8080/", nil, "X-Mine", "a"), 200, "/ a None")
	c.is(c.box(b, "GET", "/proxy/8080/", nil, "X-Mine", "b"), 200, "/ b None")
	c.is(c.box(a, "GET", "/proxy/8081/", nil), 502)
	host := strings.TrimPrefix(c.srv.APIURL(), "http://127.0.0.1:")
	port, _, _ := strings.Cut(host, "/")
	probe := "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", " + port + "), 2)' 2>/dev/null && echo reached || echo refused"
	c.execOK(a, probe, "refused\n")
	c.execOK(c.create(fields{}), probe, "reached\n")
}
