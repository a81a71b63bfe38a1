//go:build !remotebox_runner

package build

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/remote-box/remote/internal/proc"
)

// Blame runs a program that ended while its packages initialised, and left no trace, once more, to
// see in which of them: the runtime can be made to tell what has been initialised. env is added
// to the environment; should the program get that far, it must end. The answer goes on with a
// sentence about the program, such as ", in package p", or is "" if nothing can be told.
func (p *HostProgram) Blame(ctx context.Context, dir string, env ...string) string {
	trace := &initTrace{done: map[string]bool{}}
	cmd := exec.CommandContext(ctx, p.Path)
	cmd.SysProcAttr = proc.Group()
	cmd.WaitDelay = time.Second
	cmd.Dir, cmd.Stderr = dir, trace
	cmd.Env = slices.Concat(os.Environ(), []string{"PWD=" + dir, "GODEBUG=" + os.Getenv("GODEBUG") + ",inittrace=1"}, env)
	if cmd.Start() != nil {
		return ""
	}
	cmd.Wait() // however it ends
	proc.SignalGroup(cmd.Process.Pid, 9)
	suspects := p.Suspects(func(pkg string) bool { return trace.done[pkg] })
	switch {
	case len(suspects) == 0 || len(trace.done) == 0:
		return ""
	case len(suspects) == 1:
		return ", in package " + suspects[0]
	}
	return ", in one of the packages " + strings.Join(suspects, ", ")
}

// initTrace reads what the runtime tells between whatever packages print.
type initTrace struct {
	line []byte // not whole yet; no more than can be of interest
	done map[string]bool
}

func (t *initTrace) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		t.line = append(t.line, line[:min(len(line), max(0, 4096-len(t.line)))]...)
		rest = after
		if !whole {
			break
		}
		if init, ok := strings.CutPrefix(string(t.line), "init "); ok {
			pkg, _, _ := strings.Cut(init, " @")
			t.done[pkg] = true
		}
		t.line = t.line[:0]
	}
	return len(p), nil
}

// blame says which of the user's packages ended a program that imports pkgs.
func (g *goCommand) blame(ctx context.Context, program, dir string, pkgs, env []string) string {
	args := slices.Concat([]string{"list", "-e", "-deps", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Deps,Standard,Module"}, g.flags(g.overlay), pkgs)
	out, err := g.run(ctx, "", args...)
	if err != nil {
		return ""
	}
	all, err := decodePackages(out)
	if err != nil {
		return ""
	}
	l := &hostListing{g: g, all: slices.DeleteFunc(all, func(p *hostPackage) bool { return p.Standard })}
	p := HostProgram{Path: program, Inits: l.inits(pkgs, "")}
	ctx, cancel := context.WithTimeout(ctx, initTime)
	defer cancel()
	return p.Blame(ctx, dir, env...)
}
