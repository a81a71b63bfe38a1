//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// daemon is the toolbox of one running sandbox. What it knows, its sessions above all, ends with the machine.
type daemon struct {
	srv     *Server
	id      string
	m       machine
	who     account
	env     []string
	workdir string
	shell   string
	mux     *http.ServeMux

	image *image
	entry *logBuffer // what the entrypoint prints

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
	ptys     map[string]*pty
}

func (s *Server) newDaemon(sb *sandbox, m machine, spec machineSpec) (*daemon, error) {
	who, err := s.account(m, spec.user)
	if err != nil {
		return nil, err
	}
	d := &daemon{
		srv: s, id: sb.id, m: m, who: who, image: sb.img, shell: findShell(m), entry: &logBuffer{},
		sessions: map[string]*session{}, ptys: map[string]*pty{},
	}
	d.workdir = sb.img.workdir
	def(&d.workdir, who.home)
	if d.workdir == "/" && sb.img.workdir == "" {
		d.workdir = who.home
	}
	d.workdir = m.path(d.workdir)
	identity := []string{"HOME=" + who.home, "USER=" + who.name, "SHELL=" + d.shell}
	if !s.system.isolated() {
		identity = append(identity, "TMPDIR="+m.path("/tmp"))
	}
	d.env = mergeEnv(identity, spec.env)
	if err := makeDirs(m, who, d.workdir, 0o755); err != nil {
		return nil, err
	}
	d.routes()
	return d, nil
}

func (d *daemon) routes() {
	d.mux = http.NewServeMux()
	d.mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, map[string]string{"version": d.srv.version()})
	})
	d.mux.HandleFunc("GET /work-dir", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, map[string]string{"dir": d.workdir}) })
	d.mux.HandleFunc("GET /user-home-dir", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, map[string]string{"dir": d.who.home}) })
	d.mux.HandleFunc("POST /init", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, map[string]string{"message": "ok"}) })
	d.mux.HandleFunc("GET /port", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, 200, map[string]any{"ports": slices.Concat([]int{}, d.m.listening())})
	})
	d.mux.HandleFunc("GET /port/{port}/in-use", d.portInUse)
	d.mux.HandleFunc("/proxy/{port}/", func(w http.ResponseWriter, r *http.Request) {
		d.toPort(w, r, r.PathValue("port"), "/proxy/"+r.PathValue("port"))
	})

	d.mux.HandleFunc("POST /process/execute", d.execute)
	d.mux.HandleFunc("POST /process/session", d.createSession)
	d.mux.HandleFunc("GET /process/session", d.listSessions)
	d.mux.HandleFunc("GET /process/session/entrypoint", d.getEntrypoint)
	d.mux.HandleFunc("GET /process/session/entrypoint/logs", d.entrypointLogs)
	d.mux.HandleFunc("GET /process/session/{sid}", d.getSession)
	d.mux.HandleFunc("DELETE /process/session/{sid}", d.deleteSession)
	d.mux.HandleFunc("POST /process/session/{sid}/exec", d.sessionExec)
	d.mux.HandleFunc("GET /process/session/{sid}/command/{cid}", d.getCommand)
	d.mux.HandleFunc("GET /process/session/{sid}/command/{cid}/logs", d.commandLogs)
	d.mux.HandleFunc("POST /process/session/{sid}/command/{cid}/input", d.commandInput)

	d.mux.HandleFunc("POST /process/pty", d.createPTY)
	d.mux.HandleFunc("GET /process/pty", d.listPTYs)
	if !d.srv.cfg.V190 {
		d.mux.HandleFunc("GET /process/pty/create-connect", d.createConnectPTY)
	}
	d.mux.HandleFunc("GET /process/pty/{pid}", d.getPTY)
	d.mux.HandleFunc("DELETE /process/pty/{pid}", d.deletePTY)
	d.mux.HandleFunc("POST /process/pty/{pid}/resize", d.resizePTY)
	d.mux.HandleFunc("GET /process/pty/{pid}/connect", d.connectPTY)

	d.mux.HandleFunc("GET /files", d.listFiles)
	d.mux.HandleFunc("DELETE /files", d.deleteFile)
	d.mux.HandleFunc("GET /files/info", d.fileInfo)
	d.mux.HandleFunc("GET /files/download", d.download)
	d.mux.HandleFunc("POST /files/bulk-download", d.bulkDownload)
	d.mux.HandleFunc("POST /files/upload", d.upload)
	if !d.srv.cfg.V190 {
		d.mux.HandleFunc("POST /files/upload-v2", d.uploadV2)
	}
	d.mux.HandleFunc("POST /files/bulk-upload", d.bulkUpload)
	d.mux.HandleFunc("POST /files/folder", d.createFolder)
	d.mux.HandleFunc("POST /files/move", d.moveFile)
	d.mux.HandleFunc("POST /files/permissions", d.setPermissions)
	d.mux.HandleFunc("GET /files/find", d.findInFiles)
	d.mux.HandleFunc("GET /files/search", d.searchFiles)
	d.mux.HandleFunc("POST /files/replace", d.replaceInFiles)
	d.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { d.fail(w, r, 404, "", "404 page not found") })
}

func (d *daemon) fail(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	d.srv.writeDaemonError(w, r, status, code, message)
}

func (d *daemon) gone() bool {
	select {
	case <-d.m.done():
		return true
	default:
		return false
	}
}

// running reports whether anything but the daemon itself runs.
func (d *daemon) running() bool {
	idle := 0
	if d.srv.system.isolated() {
		idle = 2 // process 1 and what it waits for
	}
	return len(d.m.pids()) > idle
}

// close forgets sessions and terminals, whose processes have been killed.
func (d *daemon) close() {
	d.mu.Lock()
	d.closed = true
	var sessions []*session
	for _, ses := range d.sessions {
		sessions = append(sessions, ses)
	}
	var ptys []*pty
	for _, p := range d.ptys {
		ptys = append(ptys, p)
	}
	d.mu.Unlock()
	for _, ses := range sessions {
		ses.close()
	}
	for _, p := range ptys {
		p.close()
	}
}

// startEntrypoint starts what the image says. Its end, by success or failure, does not stop the sandbox.
func (d *daemon) startEntrypoint() error {
	argv := d.image.entrypoint
	if len(argv) == 0 {
		d.entry.end()
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := command(d.m, d.who, append([]string{"/usr/bin/env"}, argv...), d.workdir, d.env)
	cmd.Stdout, cmd.Stderr = w, w
	err = d.m.start(cmd)
	w.Close()
	if err != nil {
		r.Close()
		return err
	}
	d.srv.tasks.Go(func() {
		defer d.entry.end()
		_, _ = (&labeler{log: d.entry, mark: markStdout}).ReadFrom(r)
		_ = d.m.wait(cmd)
		r.Close()
	})
	return nil
}

func (d *daemon) portInUse(w http.ResponseWriter, r *http.Request) {
	port, err := strconv.Atoi(r.PathValue("port"))
	if err != nil || port < 3000 || port > 9999 {
		d.fail(w, r, 400, "", "port out of range")
		return
	}
	writeJSON(w, 200, map[string]bool{"isInUse": slices.Contains(d.m.listening(), port)})
}

// toPort passes a request on to a server inside the sandbox.
func (d *daemon) toPort(w http.ResponseWriter, r *http.Request, port, prefix string) {
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		d.fail(w, r, 400, "", "invalid port")
		return
	}
	target := &url.URL{Scheme: "http", Host: "localhost:" + port}
	p := &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Path = strings.TrimPrefix(pr.Out.URL.Path, prefix)
			pr.Out.URL.RawPath = strings.TrimPrefix(pr.Out.URL.RawPath, prefix)
			pr.SetURL(target)
		},
		FlushInterval: -1,
		Transport:     &http.Transport{DisableKeepAlives: true, DialContext: d.dialer(n)},
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	p.ServeHTTP(w, r)
}
