package cli

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
	"github.com/remote-box/remote/internal/proc"
)

// blame runs a program that ended while its packages initialised, and left no trace, once more, to
// see in which of them: the runtime can be made to tell what has been initialised.
func (a *app) blame(ctx context.Context, p build.HostProgram) string {
	ctx, cancel := context.WithTimeout(ctx, a.initTimeout)
	defer cancel()
	words := new(lastWords)
	cmd := exec.CommandContext(ctx, p.Path)
	cmd.SysProcAttr = proc.Group()
	cmd.WaitDelay = patience
	cmd.Dir, cmd.Stderr = a.root, words
	// A request that can't be read ends it, should it get that far.
	cmd.Env = append(os.Environ(), "PWD="+a.root, "GODEBUG="+os.Getenv("GODEBUG")+",inittrace=1", hostmode.Variable+"="+os.DevNull)
	if cmd.Start() != nil {
		return ""
	}
	cmd.Wait() // however it ends
	proc.SignalGroup(cmd.Process.Pid, 9)
	done := map[string]bool{}
	for line := range strings.Lines(words.String()) {
		if rest, ok := strings.CutPrefix(line, "init "); ok {
			pkg, _, _ := strings.Cut(rest, " @")
			done[pkg] = true
		}
	}
	suspects := p.Suspects(func(pkg string) bool { return done[pkg] })
	switch {
	case len(suspects) == 0 || len(done) == 0:
		return ""
	case len(suspects) == 1:
		return ", in package " + suspects[0]
	}
	return ", in one of the packages " + strings.Join(suspects, ", ")
}
