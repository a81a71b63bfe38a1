package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/backends/subprocess"
	"github.com/remote-box/remote/internal/registry"
)

const hangTime = 300 * time.Millisecond

func TestCall(t *testing.T) {
	ctx := t.Context()
	if out, err := Greet.Call(ctx, greeting{"World"}); err != nil || out.Greeting != "Hello World!" {
		t.Errorf("Greet: %v, %v", out, err)
	}
	if out, err := add.Call(ctx, 4); err != nil || out != 7 {
		t.Errorf("a method value: %v, %v", out, err)
	}
	if out, err := doubleInts.Call(ctx, []int{1, 2}); err != nil || fmt.Sprint(out) != "[1 2 1 2]" {
		t.Errorf("an instance of a generic function: %v, %v", out, err)
	}
	if out, err := doubleTexts.Call(ctx, []string{"a"}); err != nil || fmt.Sprint(out) != "[a a]" {
		t.Errorf("another instance: %v, %v", out, err)
	}
	if out, err := literal.Call(ctx, 5); err != nil || out != 25 {
		t.Errorf("a named literal: %v, %v", out, err)
	}
	if out, err := fromHelper.call(ctx, "hey"); err != nil || out != "HEY" {
		t.Errorf("through a framework's helper: %v, %v", out, err)
	}
	if out, err := nothing.Call(ctx, struct{}{}); err != nil || out != nil {
		t.Errorf("a nil pointer: %v, %v", out, err)
	}
	if out, err := anything.Call(ctx, nil); err != nil || out != nil {
		t.Errorf("a nil interface: %v, %v", out, err)
	}
	if out, err := pid.Call(ctx, 0); err != nil || out == os.Getpid() {
		t.Errorf("it ran in this process: %v, %v", out, err)
	}
	if out, err := pid.Local(ctx, 0); err != nil || out != os.Getpid() {
		t.Errorf("Local did not run in this process: %v, %v", out, err)
	}
}

func TestNames(t *testing.T) {
	const pkg = "github.com/remote-box/remote_test."
	for id, want := range map[string]string{
		Greet.ID():       pkg + "greet",
		add.ID():         pkg + "counterOf.Add[int,int]",
		doubleInts.ID():  pkg + "double[[]int,[]int]",
		doubleTexts.ID(): pkg + "double[[]string,[]string]",
		literal.ID():     pkg + "square",
		fromHelper.name:  "shout",
		Greet.Name():     "greet",
	} {
		if id != want {
			t.Errorf("got %q, want %q", id, want)
		}
	}
	if d := Greet.Description(); d != "Greets." {
		t.Errorf("description %q", d)
	}
}

func TestPanics(t *testing.T) {
	late := caught(func() { remote.New(greet, remote.Name("late")) })
	lateError := caught(func() { remote.RegisterError(errors.New("late")) })
	for _, c := range []struct{ got, want string }{
		{panicTwice, "remote_test.twice is registered twice"},
		{panicTwice, "functions_test.go:"},
		{panicTwice, "remote.Name"},
		{panicLiteral, "Give it one"},
		{panicLiteral, "functions_test.go:"},
		{panicNil, "the function is nil, at"},
		{panicIn, "the input type fmt.Stringer is an interface with methods"},
		{panicIn, "functions_test.go:"},
		{panicIn, "Use a concrete type"},
		{panicOut, "the output type error is an interface with methods"},
		{panicWrapper, "middleware 1 is nil, at "},
		{panicWrapper, "functions_test.go:"},
		{panicWrapper, "return next"},
		{panicError, `remote_test.odd" is registered twice`},
		{late, "Declare the function at package level"},
		{lateError, "Call it at package level"},
		{caught(func() { remote.On(nil) }), "remote.On: the backend is nil"},
		{caught(func() { remote.Root("relative") }), `"relative" is not an absolute path`},
		{caught(func() { remote.Timeout(-1) }), "remote.Timeout: -1ns is negative"},
		{caught(func() { remote.MaxResult(0) }), "remote.MaxResult: 0"},
		{caught(func() { remote.Name("") }), "remote.Name"},
		{caught(func() { remote.Concurrency(0) }), "remote.Concurrency: 0"},
		{caught(func() { remote.NewSession(nil) }), "remote.NewSession"},
		{caught(func() { remote.WithBackend(context.Background(), nil) }), "remote.WithBackend"},
		{caught(func() { remote.Map(context.Background(), half, nil, 0) }), "remote.Map: 0"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("panicked with %q, which lacks %q", c.got, c.want)
		}
	}
}

func TestMiddleware(t *testing.T) {
	seen.Store(0)
	out, err := wrapped.Call(t.Context(), 5)
	// In the sandbox the middleware did not run: seen is 0 there.
	if err != nil || out != 60 {
		t.Errorf("%d, %v", out, err)
	}
	if _, err := wrapped.Call(t.Context(), 13); err == nil || err.Error() != "wrapped is not approved for 13" {
		t.Errorf("the outer middleware: %v", err)
	}
	if n := seen.Load(); n != 1000 {
		t.Errorf("the inner middleware ran %d times", n/1000)
	}
}

func TestTimeout(t *testing.T) {
	begin := time.Now()
	_, err := hang.Call(t.Context(), 0)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took < hangTime || took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := hang.Call(ctx, 0); !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Errorf("the context's cause is lost: %v", err)
	}
}

func TestMaxResult(t *testing.T) {
	check := func(ctx context.Context) {
		if out, err := big.Call(ctx, 900); err != nil || len(out) != 900 {
			t.Errorf("a result below the limit: %v", err)
		}
		for _, n := range []int{1000, 200_000} {
			var p *remote.ProtocolError
			if _, err := big.Call(ctx, n); !errors.As(err, &p) || !strings.Contains(err.Error(), "remote.MaxResult") {
				t.Errorf("a result of %d bytes: %v", n, err)
			}
		}
	}
	check(t.Context())
	if err := remote.WithSession(t.Context(), subprocess.Backend{}, func(ctx context.Context) error {
		check(ctx)
		check(ctx) // the session lives on
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestEncodeErrorNamesTheField(t *testing.T) {
	var e *remote.EncodeError
	_, err := anything.Call(t.Context(), map[string]any{"a": []any{1, math.Inf(1)}})
	if !errors.As(err, &e) || e.Ran || e.Field != "[a][1]" {
		t.Errorf("%#v", err)
	}
}

// TestUndecodableInput calls with inputs that the function's own type refuses: that is nothing that
// building anew would mend.
func TestUndecodableInput(t *testing.T) {
	var p picky
	p.Order.Amount = 2
	_, pickyErr := choose.Call(t.Context(), p)
	_, vagueErr := guess.Call(t.Context(), vague{time.Second})
	for _, c := range []struct {
		err           error
		field, reason string
	}{
		{pickyErr, "", "the sandbox can't decode it: 2 is too much"},
		{vagueErr, "What", "the sandbox can't decode it: a JSON number where Go has fmt.Stringer"},
	} {
		var e *remote.EncodeError
		if !errors.As(c.err, &e) || e.Ran || e.Field != c.field || e.Reason != c.reason {
			t.Errorf("%#v", c.err)
		}
	}
}

func TestNilHandler(t *testing.T) {
	if _, err := noHandler.Call(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "middleware 1 of "+noHandler.ID()+" returned a nil Handler") {
		t.Errorf("%v", err)
	}
}

// TestSkew calls with other types than the runner's, as a host does that was built earlier.
func TestSkew(t *testing.T) {
	f, ok := registry.Lookup(literal.ID())
	if !ok {
		t.Fatal("not registered")
	}
	fingerprint := f.Fingerprint
	f.Fingerprint = "0123"
	defer func() { f.Fingerprint = fingerprint }()
	var skew *remote.VersionSkewError
	if _, err := literal.Call(t.Context(), 1); !errors.As(err, &skew) || skew.Function != literal.ID() || skew.Host == "" || skew.Sandbox == "" {
		t.Errorf("%#v", err)
	}
}

func TestSessionRefJSON(t *testing.T) {
	ref := remote.SessionRef{Backend: "e2b", Sandbox: "i123", Image: "p-0a1b"}
	b, err := json.Marshal(ref)
	if want := `{"v":1,"backend":"e2b","sandbox":"i123","image":"p-0a1b"}`; err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	var back remote.SessionRef
	if err := json.Unmarshal(b, &back); err != nil || back != ref {
		t.Errorf("%v, %v", back, err)
	}
	for bad, want := range map[string]string{
		`{"v":2,"backend":"e2b","sandbox":"i"}`: "version 2",
		`{"v":1,"backend":"","sandbox":"i"}`:    "backend",
		`{"v":1,"backend":"e2b"}`:               "sandbox",
		`[]`:                                    "array",
	} {
		if err := json.Unmarshal([]byte(bad), &back); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	_, err = remote.Resume(t.Context(), ref, subprocess.Backend{})
	if err == nil || !strings.Contains(err.Error(), `"e2b"`) || !strings.Contains(err.Error(), `"subprocess"`) {
		t.Errorf("another backend's ref: %v", err)
	}
}

func TestWithSession(t *testing.T) {
	sentinel := errors.New("from f")
	var s context.Context
	err := remote.WithSession(t.Context(), subprocess.Backend{}, func(ctx context.Context) error {
		s = ctx
		if _, err := literal.Call(ctx, 2); err != nil {
			return err
		}
		return sentinel
	})
	if !errors.Is(err, sentinel) {
		t.Errorf("%v", err)
	}
	if _, err := literal.Call(s, 2); !errors.Is(err, remote.ErrSessionClosed) {
		t.Errorf("a call after WithSession: %v", err)
	}
	text := caught(func() {
		remote.WithSession(t.Context(), subprocess.Backend{}, func(ctx context.Context) error {
			s = ctx
			panic("in f")
		})
	})
	if _, err := literal.Call(s, 2); text != "in f" || !errors.Is(err, remote.ErrSessionClosed) {
		t.Errorf("after a panic %q the session is open: %v", text, err)
	}
}

func TestBackendErrorsNameTheField(t *testing.T) {
	for _, c := range []struct {
		b    subprocess.Backend
		want string
	}{
		{subprocess.Backend{Dir: "relative"}, `subprocess.Backend.Dir: "relative" is not an absolute path`},
		{subprocess.Backend{Dir: "/does/not/exist"}, `subprocess.Backend.Dir: "/does/not/exist" is not a directory`},
		{subprocess.Backend{Env: map[string]string{"A=B": ""}}, `subprocess.Backend.Env: "A=B"`},
	} {
		_, err := literal.Call(remote.WithBackend(t.Context(), c.b), 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v lacks %q", err, c.want)
		}
	}
}

func TestDirIsKept(t *testing.T) {
	dir := t.TempDir()
	if _, err := literal.Call(remote.WithBackend(t.Context(), subprocess.Backend{Dir: dir}), 1); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
