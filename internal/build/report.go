//go:build !remotebox_runner

package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/registry"
)

// initTime is how long the packages of a program may take to initialise when it is asked for its
// functions. Tests shorten it.
var initTime = time.Minute

// report runs a program of pkgs, in dir, for its list of functions. The working directory is not the
// caller's: in a sandbox the packages would not find their files there either, and what they write
// must not land in the user's tree.
func report(ctx context.Context, g *goCommand, program, dir, what string, pkgs []string) ([]registry.Entry, error) {
	limited, cancel := context.WithTimeout(ctx, initTime)
	defer cancel()
	file := filepath.Join(dir, "report.json")
	cmd := exec.CommandContext(limited, program)
	cmd.Dir = dir
	env := []string{callproc.EnvMode + "=" + callproc.ModeList, callproc.EnvReport + "=" + file}
	cmd.Env = slices.Concat(os.Environ(), []string{"PWD=" + dir}, env)
	cmd.SysProcAttr = proc.Group()
	cmd.Cancel = func() error {
		proc.SignalGroup(cmd.Process.Pid, 9)
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = time.Second
	var said lastBytes
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("building a runner for %s: %w", what, ctx.Err())
	}
	b, readErr := os.ReadFile(file)
	switch {
	case limited.Err() != nil:
		err = fmt.Errorf("they had not initialised after %v", initTime)
	case err != nil:
		err = fmt.Errorf("the program ended while they initialised%s: %w", g.blame(ctx, program, dir, pkgs, env), err)
	case readErr != nil:
		err = errors.New("they ended the program while they initialised" + g.blame(ctx, program, dir, pkgs, env))
	}
	var entries []registry.Entry
	if err == nil {
		err = json.Unmarshal(b, &entries)
	}
	if err != nil {
		return nil, &Error{Package: what, Log: tail(string(said), lastLimit), Err: fmt.Errorf("running the module's packages to see which functions they register: %w", err)}
	}
	return entries, nil
}

// lastBytes keeps the end of what is written to it, however much that is.
type lastBytes []byte

const lastLimit = 8 << 10

func (l *lastBytes) Write(p []byte) (int, error) {
	*l = append(*l, p[max(0, len(p)-2*lastLimit):]...)
	if len(*l) > 4*lastLimit {
		*l = append((*l)[:0], (*l)[len(*l)-2*lastLimit:]...)
	}
	return len(p), nil
}
