//go:build !remotebox_runner

package daytonatest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"
)

type executeRequest struct {
	Command string            `json:"command"`
	Cwd     string            `json:"cwd"`
	Envs    map[string]string `json:"envs"`
	Timeout float64           `json:"timeout"` // seconds
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var errExecTimeout = errors.New("command execution timeout")

// execute runs a script that the shell reads from its standard input, and answers with all that was printed. The client's going
// away does not end it.
func (d *daemon) execute(w http.ResponseWriter, r *http.Request) {
	var req executeRequest
	if err := readJSON(w, r, &req); err != nil {
		d.fail(w, r, 400, "INVALID_REQUEST_BODY", err.Error())
		return
	}
	if strings.TrimSpace(req.Command) == "" {
		d.fail(w, r, 400, "", "empty command")
		return
	}
	env := d.env
	for k, v := range req.Envs {
		if !envName.MatchString(k) {
			d.fail(w, r, 400, "", "invalid environment variable name: '"+k+"'")
			return
		}
		env = mergeEnv(env, []string{k + "=" + v})
	}
	dir := d.workdir
	if req.Cwd != "" {
		dir = d.abs(req.Cwd)
	}
	ctx := context.Background()
	if req.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(req.Timeout*float64(time.Second)), errExecTimeout)
		defer cancel()
	}
	cmd := command(d.m, d.who, []string{d.shell}, dir, env)
	out, err := run(ctx, d.m, cmd, []byte(req.Command))
	switch {
	case errors.Is(err, errExecTimeout):
		code := "PROCESS_EXECUTION_TIMEOUT"
		if d.srv.cfg.V190 {
			code = "REQUEST_TIMEOUT"
		}
		d.fail(w, r, 408, code, err.Error())
	case cmd.ProcessState == nil: // it did not start, as when the directory is missing
		writeJSON(w, 200, map[string]any{"exitCode": -1, "result": err.Error()})
	default:
		writeJSON(w, 200, map[string]any{"exitCode": exitCode(err), "result": string(out)})
	}
}

func (d *daemon) dialer(port int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) { return d.m.dial(ctx, port) }
}
