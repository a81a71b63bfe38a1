package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

// buildFlags are those of the build command alone.
type buildFlags struct {
	check   bool
	explain bool
	lock    string
}

func (a *app) buildCommand() *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build [packages]",
		Short: "Build the images that are missing, and write the lock file",
		Long: `Build finds the functions in the packages (default ./...) and what they import, and builds the
images that they run in, where those are missing. It prints a line for each image: what became of
it, its backend, its name and its functions. The images' names are written to the lock file, for
programs that are deployed without sources.

With --check nothing is built at any provider, and nothing is written: the exit code says whether
every image is there. Runners are compiled on this host, because names follow from them.

Exit code: 0 every image is ready; 1 one would be built, or something failed; 2 the command was not
used right, or credentials or the env file are missing.`,
		Example: `  remote-box build
  remote-box build --check ./cmd/server
  go tool remote-box build --env-file ci.env --json`,
		RunE: func(cmd *cobra.Command, patterns []string) error { return a.build(cmd.Context(), f, patterns) },
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "build nothing; fail if an image is missing")
	cmd.Flags().BoolVar(&f.explain, "explain", false, "say what is different from the images in the lock file")
	cmd.Flags().StringVar(&f.lock, "lock", "", "lock `file` (default: remote-box.lock.json beside go.mod)")
	cmd.Flags().BoolVar(&a.json, "json", false, "print events as JSON, one a line")
	return cmd
}

// built is what a run of build has seen.
type built struct {
	*app
	out    output
	lock   *lockFile
	images []*hostmode.Image
}

func (a *app) build(ctx context.Context, f buildFlags, patterns []string) error {
	found, err := a.look(ctx, patterns)
	if err != nil {
		return err
	}
	b := &built{app: a, out: a.newOutput()}
	if b.lock, err = readLock(f.lock, found); err == nil && f.check {
		err = b.lock.bad
	}
	if err != nil {
		return &misuse{err}
	}
	op := hostmode.Build
	if f.check {
		op = hostmode.Check
	}
	err = a.ask(ctx, found, hostmode.Request{Op: op}, b.live, func(e *hostmode.Event) {
		if e.Kind == hostmode.ImageDone {
			b.done(e.Image, f.explain)
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, e := range all(err) {
		b.out.program(e)
		a.worse(exitFailed)
	}
	for _, p := range found.Broken {
		b.out.broken(p)
		a.worse(exitFailed)
	}
	if len(b.images) == 0 && a.code == exitOK {
		b.out.failure("", nothing(found, patterns))
		a.worse(exitFailed)
	}
	b.finish(found, f, patterns, err == nil)
	return nil
}

// finish writes the lock and sums up.
func (b *built) finish(found *build.Found, f buildFlags, patterns []string, whole bool) {
	complete := whole && len(found.Broken) == 0 && len(patterns) == 0 && b.root == found.Dir
	b.lock.merge(b.images, found.Module, complete)
	wrote := ""
	switch {
	case f.check && b.lock.stale():
		b.out.note(short(b.lock.name) + " is out of date; write it anew with: remote-box build")
	case b.lock.bad != nil && b.code != exitOK:
		// What it said of the images that failed would be lost with it.
		b.out.failure("", b.lock.bad)
	case !f.check && b.lock.changed():
		if err := b.lock.write(); err != nil {
			b.out.failure("", err)
			b.worse(exitFailed)
			break
		}
		wrote = b.lock.name
		if b.lock.bad != nil {
			b.out.note(short(b.lock.name) + " could not be read; it is written anew, with the images of the packages that were looked at")
		}
	}
	if name := b.lock.inContext(b.images, found.Dir); name != "" {
		b.out.note(name + " is part of a build context, so that each build would change the image that it names; leave it out with .dockerignore")
	}
	b.out.sum(b.images, wrote, b.code)
}

// live shows what happens while it does.
func (b *built) live(e *hostmode.Event) bool {
	switch e.Kind {
	case hostmode.Building:
		b.out.building(e.Image)
	case hostmode.Log:
		b.out.log(e.Image, e.Data)
	default:
		return false
	}
	return true
}

// done notes what became of an image.
func (b *built) done(i *hostmode.Image, explain bool) {
	b.images = append(b.images, i)
	var changes []string
	if explain && !i.Local && i.Image != "" {
		changes = b.lock.explain(i)
	}
	b.out.image(i, changes)
	switch {
	case i.Failure != nil && i.Failure.Kind == hostmode.FailedCredential:
		b.worse(exitMisused)
	case i.Status != statusReady && i.Status != statusBuilt:
		b.worse(exitFailed)
	}
}

// The statuses of images, as package remote has them.
const (
	statusReady   = "ready"
	statusBuilt   = "built"
	statusMissing = "would build"
)

// all are the errors that were joined.
func all(err error) []error {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

// summary counts images by what became of them.
func summary(images []*hostmode.Image) string {
	count := map[string]int{}
	var order []string
	for _, i := range images {
		if count[i.Status] == 0 {
			order = append(order, i.Status)
		}
		count[i.Status]++
	}
	slices.SortFunc(order, func(x, y string) int { return strings.Compare(rank(x), rank(y)) })
	var parts []string
	for _, s := range order {
		parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
	}
	noun := "images"
	if len(images) == 1 {
		noun = "image"
	}
	return fmt.Sprintf("%d %s: %s", len(images), noun, strings.Join(parts, ", "))
}

// rank orders statuses from good to bad.
func rank(status string) string {
	for i, s := range []string{statusReady, statusBuilt, statusMissing} {
		if s == status {
			return string(rune('0' + i))
		}
	}
	return "9"
}
