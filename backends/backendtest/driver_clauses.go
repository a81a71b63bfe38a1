package backendtest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
)

// program is a driver.Program for clauses that use a backend directly. The root package makes it,
// so that this one asks a session for it: the backend that it is handed keeps the spec.
func (t *tester) spec() driver.Spec {
	var spec driver.Spec
	s := remote.NewSession(specTaker{t.Backend, &spec})
	if err := s.Start(t.ctx); !errors.Is(err, errTaken) {
		t.Fatalf("taking a spec: %v", err)
	}
	return spec
}

var errTaken = errors.New("taken")

type specTaker struct {
	driver.Backend
	spec *driver.Spec
}

func (s specTaker) Start(_ context.Context, spec driver.Spec) (driver.Sandbox, error) {
	*s.spec = spec
	return nil, errTaken
}

// start makes a sandbox that the clause has to close.
func (t *tester) start() driver.Sandbox {
	sb, err := t.backend().Start(t.ctx, t.spec())
	t.must(err)
	return sb
}

func execRuns(t *tester) {
	sb := t.start()
	defer sb.Close(t.ctx)
	var stdout, stderr bytes.Buffer
	st, err := sb.Exec(t.ctx, &driver.Command{
		Args: []string{driver.RunnerArg}, Env: []string{childVariable + "=exit"},
		Stdout: &stdout, Stderr: &stderr,
	})
	t.must(err)
	if st.Code != 7 || st.Signal != "" {
		t.Errorf("the process exits with 7, Exec says %+v", st)
	}
	if all := stdout.String() + stderr.String(); !strings.Contains(all, "to stdout\n") || !strings.Contains(all, "to stderr\n") {
		t.Errorf("output: %q and %q", &stdout, &stderr)
	}
}

func execCanceled(t *tester) {
	sb := t.start()
	defer sb.Close(t.ctx)
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	_, err := sb.Exec(ctx, &driver.Command{
		Args: []string{driver.RunnerArg}, Env: []string{childVariable + "=sleep loudly"},
		Stdout: &trigger{text: "ready", pull: cancel},
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Exec of a cancelled context returned %v", err)
	}
}

func closeTwice(t *tester) {
	sb := t.start()
	dead, cancel := context.WithCancel(t.ctx)
	cancel()
	if err := sb.Close(context.WithoutCancel(dead)); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := sb.Close(t.ctx); err != nil {
		t.Errorf("second Close: %v", err)
	}
	spec := t.spec()
	again, err := t.Backend.Attach(t.ctx, sb.ID(), spec)
	if err == nil {
		again.Close(t.ctx)
	}
	if !errors.Is(err, driver.ErrSandboxGone) {
		t.Errorf("Attach to a closed sandbox: %v", err)
	}
}

func attachUnknown(t *tester) {
	for _, id := range []string{"", "nosuchsandbox", "../../etc", strings.Repeat("x", 300)} {
		sb, err := t.Backend.Attach(t.ctx, id, t.spec())
		if err == nil {
			sb.Close(t.ctx)
			t.Errorf("Attach(%.20q) gave a sandbox", id)
		}
	}
}

// trigger is a writer that calls pull once it has seen text.
type trigger struct {
	text string
	pull func()
	seen bytes.Buffer
	done bool
}

func (w *trigger) Write(p []byte) (int, error) {
	if !w.done {
		w.seen.Write(p)
		if strings.Contains(w.seen.String(), w.text) {
			w.done = true
			w.pull()
		}
	}
	return len(p), nil
}

// within reports how long f took, and fails if it was more than limit.
func (t *tester) within(limit time.Duration, what string, f func()) {
	begin := time.Now()
	f()
	if took := time.Since(begin); took > limit {
		t.Errorf("%s took %v, over %v", what, took, limit)
	}
}

func tempName() string { return "file" + time.Now().Format("150405.000000000") }
