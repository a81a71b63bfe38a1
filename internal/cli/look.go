package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/remote-box/remote/internal/build"
	"github.com/remote-box/remote/internal/hostmode"
)

// look finds the packages that patterns name.
func (a *app) look(ctx context.Context, patterns []string) (*build.Found, error) {
	found, err := build.FindPrograms(ctx, build.Query{Dir: a.root, Patterns: patterns})
	switch {
	case errors.Is(err, build.ErrNoModule), errors.Is(err, build.ErrModulesOff):
		return nil, &misuse{err}
	case err != nil:
		return nil, &failed{err}
	}
	return found, nil
}

// ask puts a request to all programs, some at once. Their events are handed on in the programs'
// order, one at a time; those that live takes at once. The errors, joined, are those of programs
// that did not answer, which does not stop the others.
func (a *app) ask(ctx context.Context, found *build.Found, req hostmode.Request, live func(*hostmode.Event) bool, handle func(*hostmode.Event)) error {
	jobs := a.jobs
	if req.Op == hostmode.Build && a.terminal() != nil {
		jobs = 1
	}
	slots := make(chan struct{}, jobs)
	var mu sync.Mutex
	answers := make([]*answer, len(found.Programs))
	for i, p := range found.Programs {
		ans := newAnswer()
		answers[i] = ans
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ans.end(a.run(ctx, p, req, func(e *hostmode.Event) {
				if live != nil {
					mu.Lock()
					defer mu.Unlock()
					if live(e) {
						return
					}
				}
				ans.add(e)
			}))
		}()
	}
	var errs []error
	for _, ans := range answers {
		for e := ans.next(); e != nil; e = ans.next() {
			mu.Lock()
			handle(e)
			mu.Unlock()
		}
		errs = append(errs, ans.err)
	}
	return errors.Join(errs...)
}

// answer is what a program reports: a queue without a bound, because nobody reads it before those
// of earlier programs.
type answer struct {
	mu     sync.Mutex
	more   *sync.Cond
	events []*hostmode.Event
	ended  bool
	err    error
}

func newAnswer() *answer {
	a := &answer{}
	a.more = sync.NewCond(&a.mu)
	return a
}

func (a *answer) add(e *hostmode.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.events = append(a.events, e)
	a.more.Signal()
}

func (a *answer) end(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended, a.err = true, err
	a.more.Signal()
}

// next waits for the next event. It returns nil after the last, when err is known.
func (a *answer) next() *hostmode.Event {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.events) == 0 {
		if a.ended {
			return nil
		}
		a.more.Wait()
	}
	e := a.events[0]
	a.events = a.events[1:]
	return e
}

// nothing says that no function is registered, and where that was looked for.
func nothing(found *build.Found, patterns []string) error {
	if len(found.Packages) == 0 {
		if len(patterns) == 0 {
			patterns = []string{"./..."} // what none means
		}
		return fmt.Errorf("%s: there are no packages", strings.Join(patterns, " "))
	}
	var b strings.Builder
	b.WriteString("no function is registered in the packages that were looked at, nor in what they import:\n")
	for i, p := range found.Packages {
		if i == 20 {
			fmt.Fprintf(&b, "    … and %d more\n", len(found.Packages)-i)
			break
		}
		fmt.Fprintf(&b, "    %s\n", p)
	}
	b.WriteString("register one with: var Greet = remote.New(greet)")
	return errors.New(b.String())
}
