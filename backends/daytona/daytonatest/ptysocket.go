//go:build !remotebox_runner

package daytonatest

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

const envsProtocol = "X-Daytona-Pty-Envs~"

// createConnectPTY is both calls in one, of newer clients. The environment comes in a subprotocol, so that no log of
// addresses has it.
func (d *daemon) createConnectPTY(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	req := ptyRequest{ID: q.Get("id"), Cwd: q.Get("cwd")}
	req.Cols, _ = strconv.Atoi(q.Get("cols"))
	req.Rows, _ = strconv.Atoi(q.Get("rows"))
	if req.ID == "" {
		d.fail(w, r, 400, "", "id is required")
		return
	}
	for _, protocol := range subprotocols(r) {
		if text, ok := strings.CutPrefix(protocol, envsProtocol); ok {
			data, err := base64.RawURLEncoding.DecodeString(text)
			if err == nil {
				err = json.Unmarshal(data, &req.Envs)
			}
			if err != nil {
				d.fail(w, r, 400, "", "invalid environment: "+err.Error())
				return
			}
		}
	}
	if p := d.addPTY(w, r, req); p != nil {
		d.join(w, r, p)
	}
}

// subprotocols are those that a WebSocket's client offers.
func subprotocols(r *http.Request) []string {
	var out []string
	for protocol := range strings.SplitSeq(r.Header.Get("Sec-WebSocket-Protocol"), ",") {
		if protocol = strings.TrimSpace(protocol); protocol != "" {
			out = append(out, protocol)
		}
	}
	return out
}

func (d *daemon) connectPTY(w http.ResponseWriter, r *http.Request) {
	if p := d.pty(w, r); p != nil {
		d.join(w, r, p)
	}
}

// exitProtocol is offered by clients that want to hear of the exit in a message too.
const exitProtocol = "X-Daytona-Pty-Exit-Control"

// join joins a WebSocket and a terminal. What was printed before is sent first.
func (d *daemon) join(w http.ResponseWriter, r *http.Request, p *pty) {
	opts := &websocket.AcceptOptions{InsecureSkipVerify: true}
	if offered := subprotocols(r); slices.Contains(offered, exitProtocol) {
		opts.Subprotocols = []string{exitProtocol}
	} else {
		opts.Subprotocols = offered
	}
	conn, err := websocket.Accept(w, r, opts)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(1 << 20)
	ctx := r.Context()
	tell := func(status string, more map[string]any) error {
		message := map[string]any{"type": "control", "status": status}
		maps.Copy(message, more)
		return wsjson.Write(ctx, conn, message)
	}
	if err := p.start(); err != nil {
		_ = tell("error", map[string]any{"error": err.Error()})
		_ = conn.Close(websocket.StatusInternalError, "")
		return
	}
	if tell("connected", nil) != nil {
		return
	}
	var typing sync.WaitGroup
	typing.Go(func() {
		for {
			_, data, err := conn.Read(ctx)
			if err != nil {
				return
			}
			if _, err := p.term.Write(data); err != nil {
				return
			}
		}
	})
	defer typing.Wait()
	defer conn.CloseNow()
	err = d.srv.followLog(ctx, p.log, true, func(b []byte) error {
		for frame := range slices.Chunk(b, 4096) {
			if err := conn.Write(ctx, websocket.MessageBinary, frame); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return
	}
	if conn.Subprotocol() == exitProtocol {
		_ = tell("exited", p.exit())
	}
	reason, _ := json.Marshal(p.exit())
	_ = conn.Close(websocket.StatusNormalClosure, string(reason))
}
