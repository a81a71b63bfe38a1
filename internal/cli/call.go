package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

func (a *app) callCommand() *cobra.Command {
	var packages []string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "call FUNCTION [JSON]",
		Short: "Call a function",
		Long: `Call calls a function as a program would: on its backend, with its timeout and middleware, and
builds a missing image if REMOTE_BOX_AUTO_BUILD allows that. FUNCTION is what list prints, or the
end of it if that is unambiguous: greet, or tasks.greet. The input is the second argument, or read
from standard input if there is none or it is "-".

The result is printed on standard output as JSON, on a line; what the function prints while it runs
goes to standard error.`,
		Example: `  remote-box call tasks.greet '{"name": "World"}'
  jq .order order.json | remote-box call shop.Price`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.complete(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if timeout > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, timeout)
				defer cancel()
			}
			input, err := a.input(args[1:])
			if err != nil {
				return err
			}
			return a.call(ctx, packages, args[0], input)
		},
	}
	cmd.Flags().StringSliceVar(&packages, "packages", nil, "`packages` to look in (default ./...)")
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "bound on the whole command, besides the function's own")
	return cmd
}

// input reads the call's input and sees that it is JSON.
func (a *app) input(args []string) (json.RawMessage, error) {
	var b []byte
	if len(args) == 1 && args[0] != "-" {
		b = []byte(args[0])
	} else {
		if f, ok := a.stdin.(*os.File); ok && isTerminal(f) && len(args) == 0 {
			return nil, &misuse{errors.New("no input: give it as JSON in the second argument, or on standard input")}
		}
		var err error
		if b, err = io.ReadAll(a.stdin); err != nil {
			return nil, &misuse{fmt.Errorf("reading the input: %w", err)}
		}
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, &misuse{errors.New("no input: give it as JSON in the second argument, or on standard input")}
	}
	if err := json.Unmarshal(b, new(json.RawMessage)); err != nil {
		return nil, &misuse{fmt.Errorf("the input is no JSON: %w", err)}
	}
	return b, nil
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Mode()&os.ModeDevice != 0
}

// holder is a function and the program that holds it.
type holder struct {
	id      string
	program build.HostProgram
}

// holders asks all programs for their functions.
func (a *app) holders(ctx context.Context, found *build.Found) ([]holder, error) {
	var hs []holder
	var errs []error
	for _, p := range found.Programs {
		one := &build.Found{Programs: []build.HostProgram{p}}
		fs, err := a.functions(ctx, one, hostmode.Request{Op: hostmode.List, NoImages: true})
		errs = append(errs, all(err)...)
		for _, f := range fs {
			hs = append(hs, holder{f.ID, p})
		}
	}
	return hs, errors.Join(errs...)
}

func (a *app) call(ctx context.Context, packages []string, function string, input json.RawMessage) error {
	found, err := a.look(ctx, packages)
	if err != nil {
		return err
	}
	hs, err := a.holders(ctx, found)
	h, ok, ambiguous := choose(hs, function)
	if ambiguous != nil {
		return &misuse{ambiguous}
	}
	if !ok {
		if a.problems(found, err); a.code != exitOK {
			// It may be in what could not be looked at.
			return &failed{fmt.Errorf("%s was not found where functions could be looked for", function)}
		}
		if len(hs) == 0 {
			return &failed{nothing(found, packages)}
		}
		return &misuse{fmt.Errorf("there is no function %s; there are:%s", function, names(hs))}
	}
	err = a.run(ctx, h.program, hostmode.Request{Op: hostmode.Call, Function: h.id, Input: input}, func(e *hostmode.Event) {
		switch e.Kind {
		case hostmode.Stdout, hostmode.Stderr:
			a.stderr.Write(e.Data)
		case hostmode.Result:
			fmt.Fprintf(a.stdout, "%s\n", e.Result)
		case hostmode.Failed:
			a.errorf("%s", e.Failure.Message)
			a.worse(exitFailed)
			if e.Failure.Kind == hostmode.FailedCredential {
				a.worse(exitMisused)
			}
		}
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return &failed{errors.New("the time given with --timeout is over")}
	}
	if err != nil {
		return &failed{err}
	}
	return nil
}

// choose finds the function that a name means: its identity, or the end of one.
func choose(hs []holder, name string) (h holder, ok bool, ambiguous error) {
	var fits []holder
	for _, h := range hs {
		if h.id == name {
			return h, true, nil
		}
		rest, found := strings.CutSuffix(h.id, name)
		if found && name != "" && strings.HasSuffix(strings.ReplaceAll(rest, "/", "."), ".") {
			if len(fits) == 0 || fits[len(fits)-1].id != h.id {
				fits = append(fits, h)
			}
		}
	}
	switch len(fits) {
	case 0:
		return holder{}, false, nil
	case 1:
		return fits[0], true, nil
	}
	return holder{}, false, fmt.Errorf("%s may mean:%s", name, names(fits))
}

func names(hs []holder) string {
	var ids []string
	for _, h := range hs {
		ids = append(ids, h.id)
	}
	slices.Sort(ids)
	return "\n    " + strings.Join(slices.Compact(ids), "\n    ")
}

// complete lists functions for shells; what goes wrong is no matter there.
func (a *app) complete(ctx context.Context) []string {
	if a.prepare() != nil {
		return nil
	}
	found, err := a.look(ctx, nil)
	if err != nil {
		return nil
	}
	hs, _ := a.holders(ctx, found)
	var ids []string
	for _, h := range hs {
		ids = append(ids, h.id)
	}
	return ids
}
