package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

func (a *app) listCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list [packages]",
		Short: "List functions, their backends, images and types",
		Long: `List prints a line for each function that the packages (default ./...) and what they import
register: its name, its backend, the image that follows from the sources, and its signature. No
provider is asked for anything.`,
		RunE: func(cmd *cobra.Command, patterns []string) error { return a.list(cmd.Context(), patterns) },
	}
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON objects, one a line")
	return cmd
}

func (a *app) list(ctx context.Context, patterns []string) error {
	found, err := a.look(ctx, patterns)
	if err != nil {
		return err
	}
	fs, err := a.functions(ctx, found, hostmode.Request{Op: hostmode.List})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.problems(found, err)
	if len(fs) == 0 && a.code == exitOK {
		return &failed{nothing(found, patterns)}
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	for _, f := range fs {
		if f.Failure != nil {
			a.errorf("%s: %s", f.ID, f.Failure.Message)
			a.worse(exitFailed)
		}
		if a.json {
			printJSON(a.stdout, listed(f))
			continue
		}
		image := imageName(&hostmode.Image{Image: f.Image, Local: f.Image == "" && f.Failure == nil})
		fmt.Fprintf(w, "%s\t%s\t%s\tfunc(%s) %s\n", f.ID, f.Backend, image, f.In, f.Out)
	}
	return w.Flush()
}

// functions asks all programs for their functions. One that several programs hold is listed once.
func (a *app) functions(ctx context.Context, found *build.Found, req hostmode.Request) ([]*hostmode.Function, error) {
	var fs []*hostmode.Function
	seen := map[string]bool{}
	err := a.ask(ctx, found, req, nil, func(e *hostmode.Event) {
		if e.Kind == hostmode.FunctionSeen && !seen[e.Function.ID] {
			seen[e.Function.ID] = true
			fs = append(fs, e.Function)
		}
	})
	return fs, err
}

// problems reports what kept packages and programs from being looked at.
func (a *app) problems(found *build.Found, err error) {
	out := &plain{app: a}
	for _, e := range all(err) {
		out.program(e)
		a.worse(exitFailed)
	}
	for _, b := range found.Broken {
		out.broken(b)
		a.worse(exitFailed)
	}
}

// listing is a function as list prints it as JSON.
type listing struct {
	Function    string      `json:"function"`
	Package     string      `json:"package"`
	Name        string      `json:"name"`
	Description string      `json:"description,omitempty"`
	In          string      `json:"in"`
	Out         string      `json:"out"`
	File        string      `json:"file"`
	Line        int         `json:"line"`
	Program     string      `json:"program"`
	Backend     string      `json:"backend"`
	Image       string      `json:"image,omitempty"`
	Error       *eventError `json:"error,omitempty"`
}

func listed(f *hostmode.Function) *listing {
	l := &listing{f.ID, f.Package, f.Name, f.Description, f.In, f.Out, f.File, f.Line, f.Program, f.Backend, f.Image, nil}
	if f.Failure != nil {
		l.Error = &eventError{f.Failure.Kind, f.Failure.Message}
	}
	return l
}
