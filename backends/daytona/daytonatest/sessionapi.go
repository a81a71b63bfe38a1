//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"slices"
	"strings"
)

func (d *daemon) createSession(w http.ResponseWriter, r *http.Request) {
	var req struct {
		ID string `json:"sessionId"`
	}
	if err := readJSON(w, r, &req); err != nil || req.ID == "" {
		d.fail(w, r, 400, "INVALID_REQUEST_BODY", "invalid request body")
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sessions[req.ID] != nil {
		d.fail(w, r, 409, "", "session already exists")
		return
	}
	if d.closed {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	ses, err := d.newSession(req.ID)
	if err != nil {
		d.fail(w, r, 500, "", err.Error())
		return
	}
	d.sessions[req.ID] = ses
	w.WriteHeader(201)
}

type commandDTO struct {
	ID       string `json:"id"`
	Command  string `json:"command"`
	ExitCode *int   `json:"exitCode,omitempty"`
}

func (ses *session) dto() map[string]any {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	commands := []commandDTO{}
	for _, c := range ses.commands {
		commands = append(commands, c.dto())
	}
	return map[string]any{"sessionId": ses.id, "commands": commands}
}

func (c *sessionCommand) dto() commandDTO {
	return commandDTO{ID: c.id, Command: c.text, ExitCode: c.exitCode()}
}

func (d *daemon) listSessions(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	var ids []string
	for id := range d.sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	out := []map[string]any{}
	for _, id := range ids {
		out = append(out, d.sessions[id].dto())
	}
	d.mu.Unlock()
	writeJSON(w, 200, out)
}

func (d *daemon) getSession(w http.ResponseWriter, r *http.Request) {
	if ses := d.session(w, r); ses != nil {
		writeJSON(w, 200, ses.dto())
	}
}

func (d *daemon) deleteSession(w http.ResponseWriter, r *http.Request) {
	ses := d.session(w, r)
	if ses == nil {
		return
	}
	d.mu.Lock()
	delete(d.sessions, ses.id)
	d.mu.Unlock()
	ses.end()
	w.WriteHeader(204)
}

func (d *daemon) sessionExec(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Command  string `json:"command"`
		RunAsync bool   `json:"runAsync"`
		Async    bool   `json:"async"` // the older name
		NoEcho   bool   `json:"suppressInputEcho"`
	}
	if err := readJSON(w, r, &req); err != nil {
		d.fail(w, r, 400, "INVALID_REQUEST_BODY", err.Error())
		return
	}
	if strings.TrimSpace(req.Command) == "" {
		d.fail(w, r, 400, "", "command cannot be empty")
		return
	}
	ses := d.session(w, r)
	if ses == nil {
		return
	}
	c, err := ses.run(req.Command, req.NoEcho)
	if err != nil {
		d.fail(w, r, 500, "", err.Error())
		return
	}
	if req.RunAsync || req.Async {
		writeJSON(w, 202, map[string]string{"cmdId": c.id})
		return
	}
	select {
	case <-c.done:
	case <-r.Context().Done(): // it may never end: see session
		return
	case <-ses.over:
		d.fail(w, r, 410, "SESSION_ENDED", "session ended")
		return
	case <-d.m.done():
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	for off := 0; ; { // until what it printed has been read
		p, err := c.log.next(r.Context(), off)
		if err != nil {
			return
		}
		if p == nil {
			break
		}
		off += len(p)
	}
	out := split(c.log.bytes())
	body := map[string]any{"cmdId": c.id, "exitCode": c.exitCode(), "output": string(out.both), "stdout": string(out.stdout), "stderr": string(out.stderr)}
	writeJSON(w, 200, body)
}

func (d *daemon) getCommand(w http.ResponseWriter, r *http.Request) {
	if c := d.sessionCommand(w, r); c != nil {
		writeJSON(w, 200, c.dto())
	}
}

func (d *daemon) commandInput(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Data string `json:"data"`
	}
	if err := readJSON(w, r, &req); err != nil {
		d.fail(w, r, 400, "INVALID_REQUEST_BODY", err.Error())
		return
	}
	c := d.sessionCommand(w, r)
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.code != nil || c.input == nil {
		code := "COMMAND_ALREADY_COMPLETED"
		if d.srv.cfg.V190 {
			code = ""
		}
		d.fail(w, r, 410, code, "command has already completed")
		return
	}
	data := req.Data
	if !strings.HasSuffix(data, "\n") {
		data += "\n"
	}
	if !c.noEcho {
		_, _ = c.log.Write([]byte(markStdout + data))
	}
	if _, err := c.input.WriteString(data); err != nil {
		d.fail(w, r, 500, "", err.Error())
		return
	}
	w.WriteHeader(204)
}

func (d *daemon) getEntrypoint(w http.ResponseWriter, _ *http.Request) {
	commands := []commandDTO{}
	if argv := d.image.entrypoint; len(argv) > 0 {
		commands = append(commands, commandDTO{ID: "entrypoint", Command: strings.Join(argv, " ")})
	}
	writeJSON(w, 200, map[string]any{"sessionId": "entrypoint", "commands": commands})
}

func (d *daemon) entrypointLogs(w http.ResponseWriter, r *http.Request) { d.serveLogs(w, r, d.entry) }

func (d *daemon) commandLogs(w http.ResponseWriter, r *http.Request) {
	if c := d.sessionCommand(w, r); c != nil {
		d.serveLogs(w, r, c.log)
	}
}
