package backendtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/remote-box/remote"
)

// once is a context for calls without a session.
func (t *tester) once() context.Context { return remote.WithBackend(t.ctx, t.backend()) }

// both runs f with a context for calls without a session and with one for calls in a session.
func (t *tester) both(f func(ctx context.Context, how string)) {
	f(t.once(), "without a session")
	t.must(remote.WithSession(t.ctx, t.backend(), func(ctx context.Context) error {
		f(ctx, "in a session")
		return nil
	}))
}

func values(t *tester) {
	in := Everything{
		String: "quotes \" ' `, newlines \r\n\x00, $(date) EOF\n✓ \u2028 <&>", Bytes: []byte{0, 0xff, '\n'},
		Int: math.MinInt64, Uint: math.MaxUint64, Float: 1e-300, Bool: true,
		Time:    time.Date(2026, 11, 30, 1, 2, 3, 456789, time.FixedZone("", 3600)),
		Pointer: &Everything{String: "inner"}, Slice: []Everything{{}, {Int: 2}},
		Map: map[string]int{"": 0, "ключ": 1}, Raw: json.RawMessage(`{"a":[1,2.50]}`),
	}
	want, err := json.Marshal(in)
	t.must(err)
	t.both(func(ctx context.Context, how string) {
		out, err := echo.Call(ctx, in)
		t.must(err)
		if got, _ := json.Marshal(out); !bytes.Equal(got, want) {
			t.Errorf("%s: sent %s, got %s", how, want, got)
		}
	})
}

func large(t *tester) {
	const n = 3<<20 + 17
	text := strings.Repeat("0123456789abcdef", n/16)
	t.both(func(ctx context.Context, how string) {
		got, err := size.Call(ctx, text)
		t.must(err)
		if got != len(text) {
			t.Errorf("%s: sent %d bytes, %d arrived", how, len(text), got)
		}
		back, err := fill.Call(ctx, n)
		t.must(err)
		if len(back) != n || strings.Trim(back, "x") != "" {
			t.Errorf("%s: %d bytes came back of %d", how, len(back), n)
		}
	})
}

// buffers are a call's standard output and error.
type buffers struct {
	mu       sync.Mutex
	out, err bytes.Buffer
}

func (b *buffers) writer(w *bytes.Buffer) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		return w.Write(p)
	})
}

func (b *buffers) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String() + b.err.String()
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// listen sends the output of calls made with the returned context into b.
func (b *buffers) listen(ctx context.Context) context.Context {
	return remote.WithOutput(ctx, b.writer(&b.out), b.writer(&b.err))
}

func output(t *tester) {
	t.both(func(ctx context.Context, how string) {
		var b buffers
		_, err := sayAll.Call(b.listen(ctx), nothing{})
		t.must(err)
		all := b.text()
		for _, want := range []string{"go out\n", "go err\n", "fd out\n", "fd err\n", "child out\n", "child err\n"} {
			if strings.Count(all, want) != 1 {
				t.Errorf("%s: %q is not once in the output %q", how, want, all)
			}
		}
		b = buffers{}
		_, err = say.Call(b.listen(ctx), [2]string{"no newline", ""})
		t.must(err)
		if all := b.text(); all != "no newline" {
			t.Errorf("%s: the function printed %q, %q arrived", how, "no newline", all)
		}
	})
}

func outputStreams(t *tester) {
	t.both(func(ctx context.Context, how string) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		ctx = remote.WithOutput(ctx, &trigger{text: "ready", pull: cancel}, nil)
		if _, err := wait.Call(ctx, nothing{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", how, err)
		}
	})
}

func outputNoise(t *tester) {
	t.both(func(ctx context.Context, how string) {
		var b buffers
		n, err := noise.Call(b.listen(ctx), 1000)
		t.must(err)
		if n != 1000 {
			t.Errorf("%s: the answer is %d, not 1000", how, n)
		}
		if !strings.HasSuffix(b.text(), "~rb1 no newline at the end") {
			t.Errorf("%s: the end of the output is missing", how)
		}
	})
}

func errorsTravel(t *tester) {
	t.both(func(ctx context.Context, how string) {
		check := func(kind string, holds func(error) bool) {
			_, err := fail.Call(ctx, kind)
			var exec *remote.ExecutionError
			if !errors.As(err, &exec) || !holds(err) {
				t.Errorf("%s: the error %q came back as %#v", how, kind, err)
			}
		}
		check("marked", func(err error) bool { return errors.Is(err, ErrMarked) })
		check("type", func(err error) bool {
			var f *Failing
			return errors.As(err, &f) && f.Code == 42
		})
		check("join", func(err error) bool {
			return errors.Is(err, ErrMarked) && errors.Is(err, io.ErrUnexpectedEOF)
		})
		check("file", func(err error) bool {
			var p *fs.PathError
			return errors.Is(err, fs.ErrNotExist) && errors.As(err, &p) && p.Path == "/does/not/exist"
		})
		check("plain", func(err error) bool {
			return strings.Contains(err.Error(), "plain \"text\"\nin two lines ✓") && !errors.Is(err, ErrMarked)
		})
		if _, err := fail.Call(ctx, "not at all"); err != nil {
			t.Errorf("%s: an error where there was none: %v", how, err)
		}
	})
}

func panics(t *tester) {
	t.both(func(ctx context.Context, how string) {
		_, err := explode.Call(ctx, "panic")
		var p *remote.PanicError
		if !errors.As(err, &p) || p.Value != "boom" || !strings.Contains(p.Stack, "backendtest") {
			t.Errorf("%s: %#v", how, err)
		}
		_, err = explode.Call(ctx, "panic error")
		if !errors.As(err, &p) || !errors.Is(err, ErrMarked) {
			t.Errorf("%s: %#v", how, err)
		}
	})
}

func exits(t *tester) {
	t.both(func(ctx context.Context, how string) {
		for _, c := range []struct {
			kind   string
			code   int
			signal string
			stderr string
		}{{"exit", 3, "", "last words"}, {"exit 0", 0, "", ""}, {"kill", -1, "SIGKILL", ""}} {
			_, err := explode.Call(ctx, c.kind)
			var e *remote.ExitError
			if !errors.As(err, &e) || e.Code != c.code || e.Signal != c.signal || !strings.Contains(e.Stderr, c.stderr) {
				t.Errorf("%s: %s: %#v", how, c.kind, err)
			}
		}
	})
}

func encodes(t *tester) {
	t.both(func(ctx context.Context, how string) {
		var e *remote.EncodeError
		if _, err := explode.Call(ctx, "nan"); !errors.As(err, &e) || !e.Ran {
			t.Errorf("%s: %#v", how, err)
		}
		if _, err := size.Call(ctx, "\xff"); !errors.As(err, &e) || e.Ran {
			t.Errorf("%s: %#v", how, err)
		}
	})
}

func deadline(t *tester) {
	t.both(func(ctx context.Context, how string) {
		ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		if _, err := wait.Call(ctx, nothing{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", how, err)
		}
	})
}

func cancelled(t *tester) {
	t.both(func(ctx context.Context, how string) {
		dead, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := wait.Call(dead, nothing{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: with a dead context: %v", how, err)
		}
		if _, err := size.Call(ctx, "still works"); err != nil {
			t.Errorf("%s: the call after a cancelled one: %v", how, err)
		}
	})
}

func environment(t *tester) {
	t.both(func(ctx context.Context, how string) {
		got, err := look.Call(ctx, nothing{})
		t.must(err)
		env := map[string]string{}
		for _, v := range got.Env {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
			if slices.Contains([]string{"REMOTE_BOX_RUNNER", "REMOTE_BOX_NONCE", "REMOTE_BOX_REQUEST", "REMOTE_BOX_INPUT"}, name) {
				t.Errorf("%s: the function sees %s", how, name)
			}
			for _, hidden := range t.Hidden {
				if strings.Contains(v, hidden) {
					t.Errorf("%s: the function sees a key, in %s", how, name)
				}
			}
		}
		for _, name := range []string{"PATH", "HOME"} {
			if env[name] == "" {
				t.Errorf("%s: %s is not set", how, name)
			}
		}
		for name, value := range t.Env {
			if env[name] != value {
				t.Errorf("%s: %s is %q, the backend's Env says %q", how, name, env[name], value)
			}
		}
		if len(got.Stdin) != 0 {
			t.Errorf("%s: stdin held %q", how, got.Stdin)
		}
		if !got.Inside {
			t.Errorf("%s: InRemoteExecution is false", how)
		}
	})
	if remote.InRemoteExecution() {
		t.Errorf("InRemoteExecution is true on the host")
	}
}

func traced(t *tester) {
	fields := map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	t.both(func(ctx context.Context, how string) {
		got, err := look.Call(remote.ContextWithTrace(ctx, fields), nothing{})
		t.must(err)
		if fmt.Sprint(got.Trace) != fmt.Sprint(fields) {
			t.Errorf("%s: sent %v, got %v", how, fields, got.Trace)
		}
	})
}

func nestedInPlace(t *tester) {
	t.both(func(ctx context.Context, how string) {
		pids, err := nested.Call(ctx, nothing{})
		t.must(err)
		if pids[0] != pids[1] || pids[0] == 0 {
			t.Errorf("%s: the outer function ran in process %d, the inner in %d", how, pids[0], pids[1])
		}
	})
}

func fresh(t *tester) {
	name := tempName()
	_, err := write.Call(t.once(), [2]string{name, "x"})
	t.must(err)
	t.noneLeft()
	if _, err := read.Call(t.once(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file of another call's sandbox: %v", err)
	}
	if made := t.sandboxes.made(); made != 2 {
		t.Errorf("2 calls made %d sandboxes", made)
	}
}

func freshCanceled(t *tester) {
	for _, after := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.once(), after)
		_, err := wait.Call(ctx, nothing{})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", after, err)
		}
	}
	t.noneLeft()
}
