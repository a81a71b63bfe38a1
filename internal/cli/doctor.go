package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor [packages]",
		Short: "See whether everything is there that the functions need",
		Long: `Doctor looks at the Go toolchain, the module, and what the backends of its functions need: engines,
credentials, providers that can be reached. It prints a line for each thing; under what is wrong
stands the command that mends it. Exit code: 0 nothing is wrong, 1 something is.`,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			a.doctor(cmd.Context(), patterns)
			return nil
		},
	}
}

func (a *app) finding(f driver.Finding) {
	if f.Problem == "" {
		fmt.Fprintf(a.stdout, "[ok]       %s\n", f.What)
		return
	}
	a.worse(exitFailed)
	fmt.Fprintf(a.stdout, "[problem]  %s: %s\n", f.What, strings.ReplaceAll(f.Problem, "\n", "\n           "))
	if f.Mend != "" {
		fmt.Fprintf(a.stdout, "           mend it with: %s\n", f.Mend)
	}
}

// tidy finds modules and checksums that are missing.
const tidy = "go mod tidy"

func (a *app) doctor(ctx context.Context, patterns []string) {
	path, err := exec.LookPath("go")
	if err != nil {
		a.finding(driver.Finding{What: "Go toolchain", Problem: err.Error(), Mend: "install Go from https://go.dev/dl, and put its bin directory on PATH"})
		return
	}
	cmd := exec.CommandContext(ctx, path, "env", "GOVERSION")
	cmd.Dir = a.root
	out, err := cmd.Output()
	if err != nil {
		why := err.Error()
		if e, ok := errors.AsType[*exec.ExitError](err); ok {
			why = strings.TrimSpace(string(e.Stderr))
		}
		a.finding(driver.Finding{What: "Go toolchain", Problem: why, Mend: "go version"})
		return
	}
	a.finding(driver.Finding{What: "Go toolchain " + strings.TrimSpace(string(out)) + " at " + path})
	found, err := build.FindPrograms(ctx, build.Query{Dir: a.root, Patterns: patterns})
	if err != nil {
		mend := ""
		switch {
		case errors.Is(err, build.ErrNoModule):
			mend = "go mod init example.com/yours, or remote-box doctor --root DIRECTORY"
		case errors.Is(err, build.ErrModulesOff):
			mend = "unset GO111MODULE; go env -u GO111MODULE"
		}
		a.finding(driver.Finding{What: "module", Problem: err.Error(), Mend: mend})
		return
	}
	a.finding(driver.Finding{What: "module " + found.Module + " in " + short(found.Dir)})
	for _, b := range found.Broken {
		f := driver.Finding{What: "package " + b.Package, Mend: "go build " + b.Package}
		if b.Untidy {
			f.Mend = tidy
		}
		for _, p := range b.Problems {
			f.Problem = strings.TrimPrefix(f.Problem+"\n"+problem(p), "\n")
		}
		a.finding(f)
	}
	n := 0
	err = a.ask(ctx, found, hostmode.Request{Op: hostmode.Doctor}, nil, func(e *hostmode.Event) {
		switch e.Kind {
		case hostmode.FunctionSeen:
			n++
		case hostmode.Found:
			a.finding(*e.Finding)
		}
	})
	for _, e := range all(err) {
		a.finding(driver.Finding{What: "functions", Problem: e.Error(), Mend: "remote-box list"})
	}
	if n == 0 && err == nil && len(found.Broken) == 0 {
		a.finding(driver.Finding{What: "functions", Problem: nothing(found, patterns).Error()})
	} else if n > 0 {
		a.finding(driver.Finding{What: fmt.Sprintf("functions: %d", n)})
	}
}
