//go:build unix

package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/local"
	"github.com/remote-box/remote/internal/wire"
)

const watchdog = time.Minute

func onceContext(t *testing.T, f fault, modes chan<- string) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	t.Cleanup(cancel)
	return remote.WithBackend(ctx, onceBackend{f, new(atomic.Int32), modes})
}

// However the connection breaks, no call is lost, and none runs twice.
func TestOnceWithFaults(t *testing.T) {
	faults := []fault{
		{name: "no fault", frames: -1},
		{name: "never started", never: true},
		{name: "started late", late: true},
		{name: "started twice", twice: true},
	}
	// The newline, hello, one of output, the result, its data, the exit.
	for n := range 7 {
		faults = append(faults,
			fault{name: fmt.Sprintf("broken after %d", n), frames: n},
			fault{name: fmt.Sprintf("ended after %d", n), frames: n, silent: true})
	}
	for _, f := range faults {
		for _, size := range []int{10, 300 << 10} {
			t.Run(fmt.Sprintf("%s, %d bytes", f.name, size), func(t *testing.T) {
				t.Parallel()
				name := filepath.Join(t.TempDir(), "note")
				var printed bytes.Buffer
				ctx := remote.WithOutput(onceContext(t, f, nil), &printed, nil)
				out, err := count.Call(ctx, counting{Note: name, Size: size})
				if err != nil || len(out) != size {
					t.Errorf("%d bytes, %v", len(out), err)
				}
				if printed.String() != "running\n" {
					t.Errorf("it printed %q", printed.String())
				}
				if n := lines(t, name); n != 1 {
					t.Errorf("it ran %d times", n)
				}
			})
		}
	}
}

func TestOnceWithLargeInput(t *testing.T) {
	name := filepath.Join(t.TempDir(), "note")
	for _, f := range []fault{{frames: -1}, {never: true}} {
		if _, err := count.Call(onceContext(t, f, nil), counting{Note: name, Fill: strings.Repeat("x", 1<<20)}); err != nil {
			t.Error(err)
		}
	}
	if n := lines(t, name); n != 2 {
		t.Errorf("2 calls ran %d times", n)
	}
}

// A result that is asked for while the call still runs is waited for.
func TestResultOfRunningCall(t *testing.T) {
	name := filepath.Join(t.TempDir(), "note")
	modes := make(chan string, 10)
	done := make(chan error, 1)
	ctx := onceContext(t, fault{frames: 2}, modes)
	go func() {
		out, err := gate.Call(ctx, counting{Note: name})
		if err == nil && out != "through" {
			err = errors.New(out)
		}
		done <- err
	}()
	if m := <-modes; m != callproc.ModeOnce {
		t.Errorf("first %s", m)
	}
	if m := <-modes; m != callproc.ModeResult {
		t.Errorf("then %s", m)
	}
	if err := os.WriteFile(name+".open", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What a function prints after the connection broke arrives while it runs, and what it printed
// meanwhile does too.
func TestOutputOfRunningCall(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere it arrives with the result")
	}
	name := filepath.Join(t.TempDir(), "note")
	modes := make(chan string, 10)
	printed := &lineWriter{lines: make(chan string, 10)}
	ctx := remote.WithOutput(onceContext(t, fault{frames: 3}, modes), printed, nil) // hello and "one"
	done := make(chan error, 1)
	go func() {
		_, err := talk.Call(ctx, counting{Note: name})
		done <- err
	}()
	<-modes
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-printed.lines:
			if got != want {
				t.Errorf("%q, not %q", got, want)
			}
		case err := <-done:
			t.Fatalf("before %q: %v", want, err)
		case <-time.After(watchdog):
			t.Fatalf("no %q", want)
		}
	}
	expect("one")
	open := func(n int) {
		if err := os.WriteFile(name+strconv.Itoa(n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(1)
	if m := <-modes; m != callproc.ModeResult {
		t.Errorf("then %s", m)
	}
	expect("two")
	open(2)
	expect("three")
	open(3)
	expect("four")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(printed.lines) > 0 {
		t.Errorf("and then %q", <-printed.lines)
	}
}

// lineWriter passes lines on.
type lineWriter struct {
	lines chan string
	part  string
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.part += string(p)
	for {
		line, rest, ok := strings.Cut(w.part, "\n")
		if !ok {
			return len(p), nil
		}
		w.lines <- line
		w.part = rest
	}
}

// When the connection is gone and then the caller gives up, the work ends all the same.
func TestCancelOfLostCall(t *testing.T) {
	name := filepath.Join(t.TempDir(), "note")
	modes := make(chan string, 10)
	ctx, cancel := context.WithCancel(onceContext(t, fault{frames: 2}, modes))
	defer cancel()
	done := make(chan error, 1)
	s := remote.NewSession(onceBackend{fault{frames: 2}, new(atomic.Int32), modes})
	defer s.Close(t.Context())
	go func() {
		_, err := gate.Call(s.Context(ctx), counting{Note: name})
		done <- err
	}()
	<-modes // the call
	<-modes // the question for its result
	pid := pids(t, name)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if m := <-modes; m != callproc.ModeCancel {
		t.Errorf("then %s", m)
	}
	ended(t, time.Second, pid...)
}

func TestOnceRunnerKilled(t *testing.T) {
	_, err := patricide.Call(onceContext(t, fault{frames: -1}, nil), none{})
	e, ok := errors.AsType[*remote.ExitError](err)
	if !ok || e.Signal != "SIGKILL" {
		t.Errorf("%T %v", err, err)
	}
}

// execute runs a mode of the runner for one call id, and returns its response and output.
func execute(t *testing.T, sb driver.Sandbox, mode, id string, req wire.Request, input string) (*wire.Response, string, *wire.Exit) {
	t.Helper()
	const nonce = "nonce"
	var out bytes.Buffer
	b, _ := json.Marshal(req)
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	input64, _ := json.Marshal([]byte(input))
	st, err := sb.Exec(ctx, &driver.Command{Args: []string{driver.RunnerArg}, Stdout: &out, Env: []string{
		callproc.EnvMode + "=" + mode, callproc.EnvNonce + "=" + nonce, callproc.EnvCall + "=" + id,
		callproc.EnvRequest + "=" + string(b), callproc.EnvInput + "=" + strings.Trim(string(input64), `"`),
		callproc.EnvState + "=" + sb.(driver.Local).StateDir(),
	}})
	if err != nil || st.Code != 0 {
		t.Fatal(st, err)
	}
	var resp *wire.Response
	var exit *wire.Exit
	data := ""
	r := wire.NewReader(&out, nonce, nil)
	for {
		f, err := r.Next()
		if err != nil {
			return resp, data, exit
		}
		switch f.Kind {
		case wire.KindResult:
			resp = new(wire.Response)
			err = f.Decode(resp)
		case wire.KindData:
			data += string(f.Body)
		case wire.KindExit:
			exit = new(wire.Exit)
			err = f.Decode(exit)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSameIDTwice(t *testing.T) {
	sb, err := local.Start(t.Context(), local.Config{}, driver.Spec{Program: thisProgram{}})
	if err != nil {
		t.Fatal(err)
	}
	defer sb.Close(t.Context())
	name := filepath.Join(t.TempDir(), "note")
	input, _ := json.Marshal(counting{Note: name, Size: 3})
	req := wire.Request{Version: wire.Version, Function: count.ID(), Size: int64(len(input))}
	for i, want := range []struct {
		mode    string
		outcome wire.Outcome
		data    string
	}{
		{callproc.ModeOnce, wire.OK, "\"xxx\"\n"},
		{callproc.ModeOnce, wire.Duplicate, ""},
		{callproc.ModeResult, wire.OK, "\"xxx\"\n"},
		{callproc.ModeCancel, wire.OK, "\"xxx\"\n"},
		{callproc.ModeOnce, wire.Duplicate, ""},
	} {
		resp, data, exit := execute(t, sb, want.mode, "one", req, string(input))
		if resp == nil || resp.Outcome != want.outcome || data != want.data || exit == nil {
			t.Errorf("step %d, %s: %+v, %q, %+v", i, want.mode, resp, data, exit)
		}
	}
	if n := lines(t, name); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	// A call that was asked for before it came never runs.
	for i, want := range []struct {
		mode    string
		outcome wire.Outcome
	}{{callproc.ModeResult, wire.NoSuchCall}, {callproc.ModeOnce, wire.Duplicate}, {callproc.ModeResult, wire.NoSuchCall}, {callproc.ModeCancel, wire.NoSuchCall}} {
		if resp, _, _ := execute(t, sb, want.mode, "two", req, string(input)); resp == nil || resp.Outcome != want.outcome {
			t.Errorf("late, step %d, %s: %+v", i, want.mode, resp)
		}
	}
	if n := lines(t, name); n != 1 {
		t.Errorf("after the late call it ran %d times", n)
	}
}

func TestUnusualEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	for name, call := range map[string]func() error{
		"Goexit":      func() error { _, err := goexit.Call(ctx, none{}); return err },
		"MarshalJSON": func() error { _, err := rude.Call(ctx, rudeType{}); return err },
		"huge value":  func() error { _, err := loud.Call(ctx, none{}); return err },
	} {
		e, ok := errors.AsType[*remote.PanicError](call())
		if !ok || e.Value == "" {
			t.Errorf("%s: %T %.300v", name, call(), call())
		}
	}
}
