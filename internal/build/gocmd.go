//go:build !remotebox_runner

package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/proc"
)

// goCommand runs the go command in one directory with an environment that depends on the target
// and on where modules come from, and on nothing else of the shell's.
type goCommand struct {
	dir       string // the module's, or that of files named to the go command
	work      string // for temporary files
	settings  map[string]string
	env       []string
	tags      []string
	modFlags  []string // -mod and -modfile
	modInputs []string // files outside the module's directory that decide which packages there are
	workspace *workspace
	overlay   string   // file for -overlay where nothing else is overlaid, or ""
	locks     []string // files over which an empty lock is laid
	target    driver.Target
	version   string
}

// newGo reads the go command's settings as they hold in src's directory.
func newGo(ctx context.Context, work string, src Source, t driver.Target) (*goCommand, error) {
	if _, err := exec.LookPath("go"); err != nil {
		own := ""
		if t.Host {
			own = ", or call runner.Main() first in the program's main function so that it can be its own runner"
		}
		return nil, &Error{Package: src.Package, Err: fmt.Errorf("%w: building a runner takes the Go toolchain; install it%s", err, own)}
	}
	for _, tag := range t.Build.Tags {
		if tag == "" || strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' }) {
			return nil, &Error{Package: src.Package, Err: fmt.Errorf("the backend's Build.Tags: %q is not a build tag; give each tag an element of its own, of letters, digits, _ and . only", tag)}
		}
	}
	g := &goCommand{dir: src.Root, work: work, env: os.Environ(), target: t}
	if err := g.readSettings(ctx, src.Package); err != nil {
		if _, is := errors.AsType[*Error](err); !is && ctx.Err() == nil {
			err = &Error{Package: src.Package, Err: err}
		}
		return nil, err
	}
	if src.Package != CommandLine {
		if g.moduleFile() == "" {
			return nil, &Error{Package: src.Package, Err: noModule(src.Root)}
		}
		g.dir = filepath.Dir(g.moduleFile())
	}
	flags := parseFlags(g.settings["GOFLAGS"])
	tags := src.Tags
	if tags == nil {
		tags = splitTags(flags["tags"])
	}
	g.tags = slices.Concat(tags, t.Build.Tags, []string{RunnerTag})
	slices.Sort(g.tags)
	g.tags = slices.Compact(g.tags)
	g.env = fixedEnvironment(g.settings, t)
	g.findLocks()
	return g, g.keepTree(flags["mod"], flags["modfile"])
}

// moduleFile is the go.mod of the module at g.dir, or "".
func (g *goCommand) moduleFile() string {
	if f := g.settings["GOMOD"]; f != os.DevNull {
		return f
	}
	return ""
}

// linkFlags are the flags of every build that decide what is built.
func (g *goCommand) linkFlags() []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-tags=" + strings.Join(g.tags, ",")}
}

// flags are the flags of every build. overlay is a file for -overlay.
func (g *goCommand) flags(overlay string) []string {
	flags := slices.Concat(g.linkFlags(), g.modFlags)
	if overlay != "" {
		flags = append(flags, "-overlay", overlay)
	}
	return flags
}

// run runs the go command and returns its standard output. Its error is an *Error that holds what
// the command said, or ctx's.
func (g *goCommand) run(ctx context.Context, what string, args ...string) ([]byte, error) {
	out, err := g.runIn(ctx, what, g.env, args...)
	if err != nil && ctx.Err() == nil && g.workspace != nil {
		// In a workspace the cause may be a checksum that could not be noted.
		if found := g.workspace.findSums(ctx, g); found {
			return g.runIn(ctx, what, g.env, args...)
		}
	}
	return out, err
}

func (g *goCommand) runIn(ctx context.Context, what string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = g.dir, append(slices.Clone(env), "PWD="+g.dir)
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
		return nil, &Error{Package: what, Log: tail(stderr.String(), logLimit), Err: err}
	}
	return stdout.Bytes(), nil
}

// logLimit is how much of a log an error keeps.
const logLimit = 16 << 10

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
	rel, err := filepath.Rel(g.settings["GOMODCACHE"], dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
