package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/hostmode"
)

func (a *app) pruneCommand() *cobra.Command {
	var yes bool
	var locks []string
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove images that neither a lock nor the sources name any more",
		Long: `Prune lists the images that remote-box made for the functions of this module and that nothing
names any more: not the sources as they are now, and not the lock file. With --yes it removes them.

An image that a deployed program still runs in is named by the lock of that deployment: give it with
--lock, several times if there are several. Nothing is removed while a package does not compile or
an image's name is unknown, because what is still needed can't be told then.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.prune(cmd.Context(), locks, yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "remove them; without it nothing is")
	cmd.Flags().StringArrayVar(&locks, "lock", nil, "lock `file` whose images are kept (default: remote-box.lock.json beside go.mod)")
	return cmd
}

// storedImage is an image that a backend has.
type storedImage struct {
	backend string
	driver.StoredImage
}

func (s storedImage) key() string { return s.backend + " " + s.Name }

func (a *app) prune(ctx context.Context, locks []string, yes bool) error {
	found, err := a.look(ctx, nil)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	programs := map[string]bool{found.Module: true}
	if len(locks) == 0 {
		locks = []string{""}
	}
	for _, name := range locks {
		l, err := readLock(name, found)
		if err == nil {
			err = l.bad
		}
		if err != nil {
			return &misuse{err}
		}
		if name != "" && l.before == nil {
			return &misuse{fmt.Errorf("the lock file: there is no file %s", name)}
		}
		for _, i := range l.old.Images {
			kept[i.Backend+" "+i.Image] = true
			programs[i.Program] = true
		}
	}
	var stored []storedImage
	seen := map[string]bool{}
	err = a.ask(ctx, found, hostmode.Request{Op: hostmode.Stored}, nil, func(e *hostmode.Event) {
		switch e.Kind {
		case hostmode.ImageDone:
			kept[e.Image.Backend+" "+e.Image.Image] = true
			programs[e.Image.Program] = true
			if e.Image.Failure != nil {
				a.fail(e.Image.Backend, e.Image.Failure)
			}
		case hostmode.StoredImage:
			if s := (storedImage{e.Backend, *e.Stored}); !seen[s.key()] {
				seen[s.key()] = true
				stored = append(stored, s)
			}
		case hostmode.Failed:
			a.fail(e.Backend, e.Failure)
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.problems(found, err)
	if a.code != exitOK {
		return &failed{errors.New("nothing was removed: which images are still needed can't be told")}
	}
	var remove []string
	for _, s := range stored {
		if kept[s.key()] || s.Program != "" && !programs[s.Program] {
			continue
		}
		remove = append(remove, s.key())
		if !yes {
			fmt.Fprintln(a.stdout, strings.TrimRight(fmt.Sprintf("[would remove]  %s  %s", s.key(), details(s)), " "))
		}
	}
	if len(remove) == 0 {
		fmt.Fprintf(a.stderr, "%d images, all of them needed\n", len(stored))
		return nil
	}
	if !yes {
		fmt.Fprintf(a.stderr, "%d of %d images would be removed; do it with: remote-box prune --yes\n", len(remove), len(stored))
		return nil
	}
	gone := map[string]bool{}
	err = a.ask(ctx, found, hostmode.Request{Op: hostmode.Remove, Remove: remove}, nil, func(e *hostmode.Event) {
		if e.Kind != hostmode.Removed || gone[e.Backend+" "+e.Stored.Name] {
			return
		}
		if e.Failure != nil {
			a.fail(e.Backend+" "+e.Stored.Name, e.Failure)
			return
		}
		gone[e.Backend+" "+e.Stored.Name] = true
		fmt.Fprintf(a.stdout, "[removed]  %s %s\n", e.Backend, e.Stored.Name)
	})
	a.problems(found, err)
	return nil
}

// fail reports what a program said went wrong.
func (a *app) fail(what string, f *hostmode.Failure) {
	a.errorf("%s: %s", what, f.Message)
	a.worse(exitFailed)
	if f.Kind == hostmode.FailedCredential {
		a.worse(exitMisused)
	}
}

func details(s storedImage) string {
	var parts []string
	if !s.Created.IsZero() {
		parts = append(parts, "made "+s.Created.UTC().Format(time.DateOnly))
	}
	if s.Size > 0 {
		parts = append(parts, fmt.Sprintf("%.1f MB", float64(s.Size)/1e6))
	}
	return strings.Join(parts, ", ")
}
