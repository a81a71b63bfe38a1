//go:build !remotebox_runner

package daytona

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/httpapi"
	"github.com/remote-box/remote/internal/rand"
)

// kill ends a command and everything that it started. Daytona can't: it goes on with a command whose
// client has gone away, and ends sessions as a whole, after five seconds. The runner does it: a
// call gets the time that is its due, everything else is killed by its tag.
func (s *sandbox) kill(ctx context.Context, cmd *driver.Command, tag string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	if id := variable(cmd.Env, callproc.EnvCall); variable(cmd.Env, callproc.EnvMode) == callproc.ModeOnce {
		s.runRunner(ctx, callproc.EnvMode+"="+callproc.ModeCancel, callproc.EnvCall+"="+id, callproc.EnvNonce+"="+rand.Text(26),
			callproc.EnvState+"="+variable(cmd.Env, callproc.EnvState))
	}
	s.runRunner(ctx, callproc.EnvMode+"="+callproc.ModeKill, callproc.EnvCall+"="+tag)
}

// runRunner runs the runner to its end and drops what it says. It may be run twice.
func (s *sandbox) runRunner(ctx context.Context, env ...string) {
	var script strings.Builder
	script.WriteString("exec env")
	for _, v := range env {
		script.WriteString(" " + quote(v))
	}
	script.WriteString(" " + runnerPath + " </dev/null >/dev/null 2>&1")
	req, err := chunked(&httpapi.Request{Method: http.MethodPost, Path: "/process/execute", Retry: httpapi.Idempotent}, map[string]any{"command": script.String()})
	if err == nil {
		s.toolbox.Do(ctx, req, nil)
	}
}

func variable(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// defaultBeat is how often a long command says that its sandbox is in use: whoever stops idle
// sandboxes counts in minutes.
const defaultBeat = 45 * time.Second

// idleDoubt is after what idle time the connection to a log is doubted: routers forget connections
// over which nothing goes, and tell neither side.
const idleDoubt = 20 * time.Second

// tend keeps the sandbox awake, and the connection to the command alive, until ctx ends.
func (r *run) tend(ctx context.Context) {
	s := r.w.s
	beat := s.backend.beat
	if beat == 0 {
		beat = defaultBeat
	}
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			s.api.touch(ctx, s.id)
			r.log.ping(ctx, pingTime)
		}
	}
}
