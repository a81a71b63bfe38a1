//go:build !remotebox_runner

package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/proc"
)

// goCommand runs the go command in one directory with an environment that depends on the target
// and on where modules come from, and on nothing else of the shell's.
type goCommand struct {
	dir     string
	env     []string
	tags    []string
	keep    []string // -mod and -modfile of the user's GOFLAGS
	target  driver.Target
	version string
	modules string // GOMODCACHE
}

// keptVariables are the go command's settings that say where modules and tools come from. What
// decides the bytes of a binary is not among them.
var keptVariables = []string{
	"GOAUTH", "GOCACHE", "GOCACHEPROG", "GOINSECURE", "GOMODCACHE", "GONOPROXY", "GONOSUMDB",
	"GOPATH", "GOPRIVATE", "GOPROXY", "GOROOT", "GOSUMDB", "GOTMPDIR", "GOTOOLCHAIN", "GOVCS", "GOWORK",
}

// newGo reads the go command's settings as they hold in src's directory.
func newGo(ctx context.Context, src Source, t driver.Target) (*goCommand, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, &Error{Package: src.Package, Err: fmt.Errorf("%w: building a runner takes the Go toolchain; install it, or call runner.Main() first in the program's main function so that it can be its own runner", err)}
	}
	g := &goCommand{dir: src.Root, env: os.Environ(), target: t}
	out, err := g.run(ctx, src.Package, "env", "-json")
	if err != nil {
		return nil, err
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, &Error{Package: src.Package, Err: err}
	}
	g.version, g.modules = env["GOVERSION"], env["GOMODCACHE"]
	g.tags = slices.Clone(src.Tags)
	for _, f := range strings.Fields(env["GOFLAGS"]) {
		name, value, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		switch name {
		case "tags":
			g.tags = append(g.tags, strings.Split(value, ",")...)
		case "mod", "modfile":
			g.keep = append(g.keep, "-"+name+"="+value)
		}
	}
	g.tags = append(append(g.tags, t.Build.Tags...), RunnerTag)
	slices.Sort(g.tags)
	g.tags = slices.Compact(g.tags)
	g.env = fixedEnvironment(env, t)
	return g, nil
}

// fixedEnvironment is the environment of a build: the kept settings, the target, and of the rest
// only what programs need to run at all.
func fixedEnvironment(goEnv map[string]string, t driver.Target) []string {
	env := append(slices.Clone(t.Build.Env),
		"GOENV=off", "GOFLAGS=-buildvcs=false", "GO111MODULE=on",
		"GOOS="+t.OS, "GOARCH="+t.Arch, "GOEXPERIMENT=", "GOFIPS140=off", "GODEBUG=",
	)
	switch t.Arch {
	case "amd64":
		env = append(env, "GOAMD64=v1")
	case "arm64":
		env = append(env, "GOARM64=v8.0")
	}
	if t.Build.CGO {
		env = append(env, "CGO_ENABLED=1")
	} else {
		env = append(env, "CGO_ENABLED=0")
	}
	for _, name := range keptVariables {
		if v := goEnv[name]; v != "" {
			env = append(env, name+"="+v)
		}
	}
	if goEnv["GOWORK"] == "" {
		env = append(env, "GOWORK=off")
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "PATH", "HOME", "USER", "TMPDIR", "TMP", "TEMP", "SystemRoot", "LOCALAPPDATA", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
			"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
			"SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_TERMINAL_PROMPT":
			env = append(env, v)
		}
	}
	return env
}

// flags are the flags of every build.
func (g *goCommand) flags() []string {
	return append([]string{
		"-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-tags=" + strings.Join(g.tags, ","),
	}, g.keep...)
}

// run runs the go command and returns its standard output. Its error is an *Error that holds what
// the command said, or ctx's.
func (g *goCommand) run(ctx context.Context, what string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = g.dir, append(g.env, "PWD="+g.dir)
	cmd.SysProcAttr = proc.Group()
	cmd.Cancel = func() error {
		proc.SignalGroup(cmd.Process.Pid, 9)
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("building a runner for %s: %w", what, ctx.Err())
	}
	if err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); ok {
			err = errors.New("go " + args[0] + " failed")
		}
		return nil, &Error{Package: what, Log: tail(stderr.String(), 16<<10), Err: err}
	}
	return stdout.Bytes(), nil
}

// tail is the end of s, from the beginning of a line.
func tail(s string, limit int) string {
	s = strings.TrimSpace(s)
	if len(s) <= limit {
		return s
	}
	s = s[len(s)-limit:]
	if _, rest, ok := strings.Cut(s, "\n"); ok {
		s = rest
	}
	return "…\n" + s
}

// inModuleCache reports whether dir belongs to a downloaded module.
func (g *goCommand) inModuleCache(dir string) bool {
	rel, err := filepath.Rel(g.modules, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
