//go:build !remotebox_runner

package e2btest

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	envdPort          = 49983
	headerSandboxID   = "E2b-Sandbox-Id"
	headerSandboxPort = "E2b-Sandbox-Port"
	headerTraffic     = "e2b-traffic-access-token"
)

// proxyError is an answer of the proxy in front of the sandboxes.
type proxyError struct {
	SandboxID string `json:"sandboxId,omitempty"`
	Message   string `json:"message"`
	Port      int    `json:"port,omitempty"`
	Path      string `json:"path,omitempty"`
	Code      int    `json:"code"`
}

func (e proxyError) write(w http.ResponseWriter) { writeJSON(w, e.Code, e) }

// reserved are envd's routes for the orchestrator.
func reserved(path string) bool {
	switch path {
	case "/init", "/freeze", "/unfreeze", "/collapse", "/fsfreeze", "/fsthaw", "/upgrade":
		return true
	}
	return false
}

// hostRoute reads the canonical form of a host name, {port}-{id}.{domain}.
func hostRoute(host string) (id string, port int, ok bool) {
	label, _, found := strings.Cut(host, ".")
	text, id, dash := strings.Cut(label, "-")
	port, err := strconv.Atoi(text)
	return id, port, found && dash && err == nil && port > 0 && port < 1<<16
}

// sharedHost says whether the headers count: on the shared name, on localhost
// and on addresses.
func sharedHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return host == "localhost" || strings.HasPrefix(host, "sandbox.") || net.ParseIP(strings.Trim(host, "[]")) != nil
}

// proxy passes a request on to its sandbox.
func (s *Server) proxy(w http.ResponseWriter, r *http.Request) {
	id, port, ok := "", 0, false
	if given, text := r.Header.Get(headerSandboxID), r.Header.Get(headerSandboxPort); sharedHost(r.Host) && (given != "" || text != "") {
		var err error
		port, err = strconv.Atoi(text)
		id, ok = given, given != "" && err == nil && port > 0 && port < 1<<16
		if !ok {
			http.Error(w, "Missing or invalid routing header", http.StatusBadRequest)
			return
		}
	} else if id, port, ok = hostRoute(r.Host); !ok {
		http.Error(w, "Invalid host", http.StatusBadRequest)
		return
	}
	if port == envdPort && reserved(r.URL.Path) {
		proxyError{Message: "This endpoint is reserved for internal use", Path: r.URL.Path, Code: http.StatusNotFound}.write(w)
		return
	}
	sb, err := s.lookup(id)
	if err != nil {
		if err.(*apiError).Code == http.StatusBadRequest {
			http.Error(w, "Invalid sandbox ID", http.StatusBadRequest)
			return
		}
		notFound(id).write(w)
		return
	}
	m, streams, refusal := sb.admitRequest(r, port)
	if refusal != nil {
		refusal.write(w)
		return
	}
	m.serve(streams, w, r, sb.target(m, port))
}

func notFound(id string) *proxyError {
	return &proxyError{SandboxID: id, Message: "The sandbox was not found", Code: http.StatusBadGateway}
}

// admitRequest enters the machine, which it wakes first if the sandbox wants
// that.
func (sb *sandbox) admitRequest(r *http.Request, port int) (*machine, context.Context, *proxyError) {
	full := sb.server.room(sb)
	sb.mu.Lock()
	defer sb.mu.Unlock()
	if sb.state == Paused && sb.spec.AutoResume != nil && sb.spec.AutoResume.Enabled && sb.machine != nil {
		switch {
		case port == envdPort && sb.accessToken != "" && r.Header.Get("X-Access-Token") != sb.accessToken,
			port != envdPort && sb.trafficToken != "" && r.Header.Get(headerTraffic) != sb.trafficToken:
			return nil, nil, &proxyError{SandboxID: sb.id, Message: "The sandbox is paused and the request lacks the token to resume it", Code: http.StatusForbidden}
		case full != nil:
			return nil, nil, &proxyError{SandboxID: sb.id, Message: full.Message, Code: full.Code}
		}
		if err := sb.resume(max(sb.timeout, 5*time.Minute)); err != nil {
			return nil, nil, &proxyError{SandboxID: sb.id, Message: err.Error(), Code: http.StatusInternalServerError}
		}
	}
	switch sb.state {
	case Running:
	case pausing, resuming:
		return nil, nil, &proxyError{SandboxID: sb.id, Message: "The sandbox is transitioning", Code: http.StatusConflict}
	default:
		return nil, nil, notFound(sb.id)
	}
	if port != envdPort && sb.trafficToken != "" {
		switch r.Header.Get(headerTraffic) {
		case sb.trafficToken:
		case "":
			return nil, nil, &proxyError{SandboxID: sb.id, Message: "Sandbox is secured with traffic access token. Token header '" + headerTraffic + "' is missing", Code: http.StatusForbidden}
		default:
			return nil, nil, &proxyError{SandboxID: sb.id, Message: "Sandbox is secured with traffic access token. Provided token is invalid", Code: http.StatusForbidden}
		}
	}
	return sb.machine, sb.machine.enter(), nil
}

// target is envd, or whoever listens on another port.
func (sb *sandbox) target(m *machine, port int) http.Handler {
	if port == envdPort {
		return m.envd
	}
	sb.mu.Lock()
	mask := sb.network.MaskRequestHost
	sb.mu.Unlock()
	host := "127.0.0.1:" + strconv.Itoa(port)
	return &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.SetURL(&url.URL{Scheme: "http", Host: host})
			pr.Out.Host = pr.In.Host
			if mask != "" {
				pr.Out.Host = strings.ReplaceAll(mask, "${PORT}", strconv.Itoa(port))
			}
		},
		FlushInterval: -1,
		Transport: &http.Transport{
			DisableKeepAlives: true, // the connection must not outlive the request
			DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, m, port) },
		},
		ErrorLog: discardLog(),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			proxyError{SandboxID: sb.id, Message: "The sandbox is running but port is not open", Port: port, Code: http.StatusBadGateway}.write(w)
		},
	}
}

// dial tries for a second: a server may be about to listen (E2B's proxy).
func dial(ctx context.Context, m *machine, port int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for {
		conn, err := m.jail.Dial(port)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}
