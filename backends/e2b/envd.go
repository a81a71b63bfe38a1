//go:build !remotebox_runner

package e2b

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/internal/envdpb/process/processconnect"
	"github.com/remote-box/remote/internal/httpapi"
)

// envdPort is where E2B's agent listens in every sandbox.
const envdPort = 49983

// keepalive is how often the agent is asked to say that a silent stream lives, and silence how long
// a stream is believed to live without that.
const (
	keepalive = 20 * time.Second
	silence   = 3 * keepalive
)

// envd is the way to a sandbox's agent. It is a connect.HTTPClient that adds what the proxies and
// the agent want to know, and turns their refusals into errors that tell them apart.
type envd struct {
	base    string
	id      string
	http    *http.Client
	process processconnect.ProcessClient

	mu    sync.Mutex
	token string
}

func newEnvd(c *config, a *sandboxAnswer) *envd {
	e := &envd{base: c.sandboxURL(a), id: a.SandboxID, http: httpapi.NoRedirects(c.HTTPClient), token: a.AccessToken}
	e.process = processconnect.NewProcessClient(
		e, e.base,
		connect.WithReadMaxBytes(4<<20),
		// Small messages, on a path that counts milliseconds.
		connect.WithAcceptCompression("gzip", nil, nil),
	)
	return e
}

// sandboxURL is where a sandbox's agent is reached: E2B's own domains have one name for all
// sandboxes, to which connections can be kept; others have a name for each port of each sandbox (E2B
// SDK 2.51, connectionConfig.ts).
func (c *config) sandboxURL(a *sandboxAnswer) string {
	if c.SandboxURL != "" {
		return strings.TrimRight(c.SandboxURL, "/")
	}
	domain := cmp.Or(a.Domain, c.Domain, defaultDomain)
	switch domain {
	case "e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev":
		return "https://sandbox." + domain
	}
	return "https://" + strconv.Itoa(envdPort) + "-" + a.SandboxID + "." + domain
}

func (e *envd) setToken(token string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.token = token
}

func (e *envd) header() http.Header {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := http.Header{
		"E2b-Sandbox-Id":   {e.id},
		"E2b-Sandbox-Port": {strconv.Itoa(envdPort)},
		"User-Agent":       {userAgent},
		// The transport would ask for gzip by itself, and an answer could then not be taken up again
		// where it broke off.
		"Accept-Encoding": {"identity"},
	}
	if e.token != "" {
		h["X-Access-Token"] = []string{e.token}
	}
	return h
}

// Do implements connect.HTTPClient.
func (e *envd) Do(req *http.Request) (*http.Response, error) {
	for k, v := range e.header() {
		req.Header[k] = v
	}
	req.Header.Set("Keepalive-Ping-Interval", strconv.Itoa(int(keepalive/time.Second)))
	return e.send(req)
}

// send sends a request once. An answer that is none of the agent's successes is a *refusal.
func (e *envd) send(req *http.Request) (*http.Response, error) {
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return nil, e.refused(resp, body)
}

// refusal is an answer of the proxies in front of a sandbox, or of its agent, that is no success.
type refusal struct {
	status  int
	message string
	wait    time.Duration
	asked   bool // the provider said how long to wait
	proxy   bool // it comes from E2B's proxy
	// unanswered says that the proxy knows the sandbox, but got no answer from it: the agent may have
	// seen the request or not.
	unanswered bool
}

func (r *refusal) Error() string {
	s := "the sandbox's agent answered " + strconv.Itoa(r.status)
	if r.proxy {
		s = "E2B's proxy answered " + strconv.Itoa(r.status)
	}
	return s + ": " + cmp.Or(r.message, http.StatusText(r.status))
}

func (e *envd) refused(resp *http.Response, body []byte) *refusal {
	// The schemas of the proxy's answers and of the agent's: only the proxy's name the sandbox. Both
	// differ from what a load balancer says. The answer that names a port is given for whatever goes
	// wrong between the proxy and the agent (E2B infra, proxy/pool).
	var j struct {
		SandboxID string `json:"sandboxId"`
		Message   string `json:"message"`
		Port      int    `json:"port"`
	}
	r := &refusal{status: resp.StatusCode}
	r.wait, r.asked = httpapi.RetryAfter(resp.Header)
	if to := httpapi.Redirect(resp); to != "" {
		r.message = to
	} else if json.Unmarshal(body, &j) == nil {
		r.message = j.Message
		r.proxy = j.SandboxID != ""
		r.unanswered = r.proxy && j.Port != 0
	} else {
		r.message = string(body[:min(len(body), 512)])
	}
	e.mu.Lock()
	r.message = httpapi.Printable(httpapi.Redact(r.message, []string{e.token}))
	e.mu.Unlock()
	return r
}
