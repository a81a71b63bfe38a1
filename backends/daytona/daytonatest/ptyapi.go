//go:build !remotebox_runner

package daytonatest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

type ptyRequest struct {
	ID        string            `json:"id"`
	Cwd       string            `json:"cwd"`
	Envs      map[string]string `json:"envs"`
	Cols      int               `json:"cols"`
	Rows      int               `json:"rows"`
	LazyStart bool              `json:"lazyStart"`
}

// addPTY makes a terminal and answers the request itself when it can't.
func (d *daemon) addPTY(w http.ResponseWriter, r *http.Request, req ptyRequest) *pty {
	def(&req.Cols, 80)
	def(&req.Rows, 24)
	p := &pty{d: d, id: req.ID, cwd: d.workdir, created: time.Now(), cols: req.Cols, rows: req.Rows, log: &logBuffer{}, exited: make(chan struct{})}
	if req.Cwd != "" {
		p.cwd = d.abs(req.Cwd)
	}
	p.env = mergeEnv(d.env, []string{"TERM=xterm-256color"})
	for k, v := range req.Envs {
		p.env = mergeEnv(p.env, []string{k + "=" + v})
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ptys[req.ID] != nil {
		d.fail(w, r, 409, "", "PTY session with this ID already exists")
		return nil
	}
	if d.closed {
		w.WriteHeader(http.StatusBadGateway)
		return nil
	}
	if !req.LazyStart {
		if err := p.start(); err != nil {
			d.fail(w, r, 500, "", err.Error())
			return nil
		}
	}
	d.ptys[req.ID] = p
	return p
}

func (d *daemon) createPTY(w http.ResponseWriter, r *http.Request) {
	var req ptyRequest
	if err := readJSON(w, r, &req); err != nil || req.ID == "" {
		d.fail(w, r, 400, "INVALID_REQUEST_BODY", "invalid request body")
		return
	}
	if d.addPTY(w, r, req) != nil {
		writeJSON(w, 201, map[string]string{"sessionId": req.ID})
	}
}

func (p *pty) dto() map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return map[string]any{
		"id": p.id, "cwd": p.cwd, "cols": p.cols, "rows": p.rows, "active": p.cmd != nil && !p.over, "lazyStart": p.cmd == nil,
		"createdAt": stamp(p.created), "envs": map[string]string{},
	}
}

func (d *daemon) pty(w http.ResponseWriter, r *http.Request) *pty {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.ptys[r.PathValue("pid")]
	if p == nil {
		d.fail(w, r, 404, "", "PTY session not found")
	}
	return p
}

func (d *daemon) listPTYs(w http.ResponseWriter, _ *http.Request) {
	d.mu.Lock()
	var all []*pty
	for _, p := range d.ptys {
		all = append(all, p)
	}
	d.mu.Unlock()
	slices.SortFunc(all, func(a, b *pty) int { return strings.Compare(a.id, b.id) })
	out := []map[string]any{}
	for _, p := range all {
		out = append(out, p.dto())
	}
	writeJSON(w, 200, map[string]any{"sessions": out})
}

func (d *daemon) getPTY(w http.ResponseWriter, r *http.Request) {
	if p := d.pty(w, r); p != nil {
		writeJSON(w, 200, p.dto())
	}
}

func (d *daemon) deletePTY(w http.ResponseWriter, r *http.Request) {
	p := d.pty(w, r)
	if p == nil {
		return
	}
	d.mu.Lock()
	delete(d.ptys, p.id)
	d.mu.Unlock()
	p.close()
	writeJSON(w, 200, map[string]string{"message": "PTY session deleted"})
}

func (d *daemon) resizePTY(w http.ResponseWriter, r *http.Request) {
	p := d.pty(w, r)
	if p == nil {
		return
	}
	var req ptyRequest
	if err := readJSON(w, r, &req); err != nil || req.Cols < 1 || req.Cols > 1000 || req.Rows < 1 || req.Rows > 1000 {
		d.fail(w, r, 400, "", "cols and rows must be between 1 and 1000")
		return
	}
	p.mu.Lock()
	over := p.over
	if !over {
		p.cols, p.rows = req.Cols, req.Rows
		if p.term != nil {
			_ = resizeTerminal(p.term, req.Cols, req.Rows)
		}
	}
	p.mu.Unlock()
	if over {
		d.fail(w, r, 410, "", "PTY session is not active")
		return
	}
	writeJSON(w, 200, p.dto())
}
