//go:build linux && !remotebox_runner

package e2btest_test

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/remote-box/remote/backends/e2b/e2btest"
	"github.com/remote-box/remote/internal/needs"
)

func TestRouting(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create("")
	for _, c := range []struct {
		name, host, id, port, path string
		status                     int
		text                       string
	}{
		{"headers", "", b.id, "49983", "/health", 204, ""},
		{"shared name", "sandbox.e2b.app", b.id, "49983", "/health", 204, ""},
		{"canonical name", "49983-" + b.id + ".e2b.app", "", "", "/health", 204, ""},
		{"canonical name before headers", "49983-" + b.id + ".e2b.app", "i0123456789abcdefghij", "1", "/health", 204, ""},
		{"no port", "", b.id, "", "/health", 400, ""},
		{"no id", "", "", "49983", "/health", 400, ""},
		{"nothing", "", "", "", "/health", 400, "Invalid host"},
		{"bad id", "", "nonsense", "49983", "/health", 400, ""},
		{"unknown", "", "i0123456789abcdefghij", "49983", "/health", 502, `"message":"The sandbox was not found","code":502`},
		{"control", "", b.id, "49983", "/init", 404, "This endpoint is reserved"},
	} {
		req := b.request("GET", b.srv.SandboxURL()+c.path, "")
		if c.host != "" {
			req.Host = c.host
		}
		for name, value := range map[string]string{"E2b-Sandbox-Id": c.id, "E2b-Sandbox-Port": c.port} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		a, err := b.send(req)
		if err != nil {
			t.Fatal(err)
		}
		if a.status != c.status || !strings.Contains(a.body, c.text) {
			t.Errorf("%s: %d %s, want %d %s", c.name, a.status, a.body, c.status, c.text)
		}
	}
}

// serveHTTP starts a server inside the sandbox and returns its port.
func (b *box) serveHTTP() string {
	b.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	free.Close()
	b.start(`exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => ` + port + `, ReuseAddr => 1) or die; $| = 1; print "up\n";
		while ($c = $s->accept) { $h = ""; while (<$c>) { last if /^\s*$/; $h = $1 if /^Host: (\S+)/ } print $c "HTTP/1.0 200 OK\r\nContent-Length: " . length($h) . "\r\n\r\n$h"; close $c }'`).line()
	return port
}

func TestPorts(t *testing.T) {
	for name, cfg := range map[string]e2btest.Config{"shared": {}, "private": {PrivateNetwork: true}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, cfg)
			if cfg.PrivateNetwork {
				r.confined()
			}
			b := r.create(`"network":{"allowPublicTraffic":false,"maskRequestHost":"inside:${PORT}"}`)
			if _, _, end := b.start("perl -MIO::Socket::INET -e 1").finish(); end.GetExitCode() != 0 {
				needs.Missing(t, "needs perl to serve")
			}
			port := b.serveHTTP()
			token, _ := r.want("POST", "/sandboxes/"+b.id+"/connect", `{"timeout":60}`, 200, "").json(r, "trafficAccessToken").(string)
			for _, c := range []struct {
				port, token string
				status      int
				text        string
			}{
				{port, token, 200, "inside:" + port},
				{port, "", http.StatusForbidden, "is missing"},
				{port, "wrong", http.StatusForbidden, "is invalid"},
				{"1", token, 502, `"message":"The sandbox is running but port is not open","port":1,"code":502`},
			} {
				a := b.envd("GET", "/", "", "E2b-Sandbox-Port", c.port, "E2b-Traffic-Access-Token", c.token)
				if a.status != c.status || !strings.Contains(a.body, c.text) {
					t.Errorf("port %s: %d %s, want %d %s", c.port, a.status, a.body, c.status, c.text)
				}
			}
			if cfg.PrivateNetwork {
				if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
					conn.Close()
					t.Error("the port is open on the host")
				}
			}
		})
	}
}

func TestAutoResume(t *testing.T) {
	b := newRig(t, e2btest.Config{}).create(`"autoPause":true,"autoResume":{"enabled":true}`)
	b.want("GET", "/sandboxes/"+b.id, "", 200, `"lifecycle":{"autoResume":true,"onTimeout":"pause"}`)
	if err := b.srv.ExpireSandbox(b.id); err != nil {
		t.Fatal(err)
	}
	b.want("GET", "/sandboxes/"+b.id, "", 200, `"state":"paused"`)
	if a := b.envd("GET", "/health", "", "X-Access-Token", "wrong"); a.status != 403 {
		t.Errorf("woken without the token: %d %s", a.status, a.body)
	}
	if a := b.envd("GET", "/health", ""); a.status != 204 {
		t.Errorf("not woken: %d %s", a.status, a.body)
	}
	b.want("GET", "/sandboxes/"+b.id, "", 200, `"state":"running"`)
}

// HTTP/2 without TLS, as on the real proxies: a stream is reset, the connection
// lives on.
func TestHTTP2(t *testing.T) {
	r := newRig(t, e2btest.Config{})
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	r.client = &http.Client{Transport: transport}
	t.Cleanup(transport.CloseIdleConnections)
	b := r.create("")
	if got := b.run("echo over h2"); got != "over h2\n" {
		t.Error(got)
	}
	p := b.start("echo up; sleep 1000")
	p.line()
	if err := b.srv.KillSandbox(b.id); err != nil {
		t.Fatal(err)
	}
	if event := p.next(); event != nil || p.stream.Err() == nil {
		t.Errorf("the stream ended with %v, %v; want a reset", event, p.stream.Err())
	}
	if a := b.envd("GET", "/health", ""); a.status != 502 {
		t.Errorf("afterwards: %d", a.status)
	}
}
