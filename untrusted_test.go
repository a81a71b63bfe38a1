//go:build unix

package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/remote-box/remote"
	"github.com/remote-box/remote/driver"
	localbox "github.com/remote-box/remote/internal/local"
	"github.com/remote-box/remote/internal/proc"
)

// victim is what the host believes to call.
var victim = remote.New(func(context.Context, string) (string, error) { return "", nil },
	remote.Name("victim"), remote.Output(nil, nil))

// evilBackend makes sandboxes whose runner is this program in an evil mode.
type evilBackend struct {
	attack string
	way    int
	ids    *ids
}

// ids are the sandboxes that were made.
type ids struct {
	mu  sync.Mutex
	all []string
}

func (evilBackend) Name() string { return "evil" }

func (b evilBackend) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	spec.Program = thisProgram{}
	sb, err := localbox.Start(ctx, localbox.Config{Env: map[string]string{evilVariable: b.attack}}, spec)
	if err != nil {
		return nil, err
	}
	b.ids.mu.Lock()
	b.ids.all = append(b.ids.all, sb.ID())
	b.ids.mu.Unlock()
	switch b.way {
	case stream:
		return streamOnly{struct{ driver.Sandbox }{sb}}, nil
	case once:
		return struct{ driver.Sandbox }{sb}, nil
	}
	return sb, nil
}

func (evilBackend) Attach(context.Context, string, driver.Spec) (driver.Sandbox, error) {
	return nil, errors.ErrUnsupported
}

// streamOnly is a sandbox that shares nothing with this host.
type streamOnly struct{ driver.Sandbox }

func (streamOnly) Streams() {}

// Exec copies what goes in and out, as a backend does that has a network between.
func (s streamOnly) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return driver.Status{}, err
	}
	defer r.Close()
	go func() {
		defer w.Close()
		if cmd.Stdin != nil {
			io.Copy(w, cmd.Stdin)
		}
	}()
	c := *cmd
	c.Stdin, c.Stdout = r, struct{ io.Writer }{cmd.Stdout}
	return s.Sandbox.Exec(ctx, &c)
}

type thisProgram struct{ driver.Program }

func (thisProgram) Runner(context.Context, driver.Target) (string, error) { return os.Executable() }

// maxHeap is what all of the attacks together, several at once, may make the host hold.
const maxHeap = 96 << 20

// Whatever a runner does, its caller gets an error of the right type, in time, and nothing is left.
func TestUntrustedRunner(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	made := &ids{}
	before := takeStock()
	heap := watchHeap()
	var running sync.WaitGroup
	slots := make(chan struct{}, 16) // most of them wait for a deadline
	for _, a := range attacks {
		for way, name := range map[int]string{solo: "solo", local: "local", stream: "stream", once: "once"} {
			if a.ways&way == 0 {
				continue
			}
			want := a.want
			if w, ok := a.but[way]; ok {
				want = w
			}
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				if err := attacked(t.Context(), evilBackend{a.name, way, made}, want); err != nil {
					t.Errorf("%s, %s: %v", a.name, name, err)
				}
			})
		}
	}
	running.Wait()
	if peak := heap(); peak > maxHeap {
		t.Errorf("the host held %d MiB", peak>>20)
	}
	before.check(t)
	for _, id := range made.all {
		if left := proc.Tagged(proc.Tag, id); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
	}
	left, err := filepath.Glob(filepath.Join(tmp, "*", "[^.]*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// attacked makes a call and checks what its caller is told.
func attacked(ctx context.Context, b evilBackend, want string) error {
	limit := 30 * time.Second
	if want == "deadline" {
		limit = time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	var out string
	var err error
	if b.way == local || b.way == stream {
		s := remote.NewSession(b)
		out, err = victim.Call(s.Context(ctx), "in")
		if cerr := s.Close(ctx); cerr != nil {
			return cerr
		}
	} else {
		out, err = victim.Call(remote.WithBackend(ctx, b), "in")
	}
	if took := time.Since(began); took > limit+15*time.Second {
		return fmt.Errorf("it took %v", took)
	}
	if want != "ok" && out != "" {
		return fmt.Errorf("an output of %d bytes", len(out))
	}
	if !told(err, want) || want == "ok" && out != "fine" {
		return fmt.Errorf("got %q and %T %.300v, want %s", out, err, err, want)
	}
	if n := len(fmt.Sprint(err)); n > 64<<10 {
		return fmt.Errorf("the error's text has %d bytes", n)
	}
	return nil
}

func told(err error, want string) bool {
	as := func(target any) bool { return errors.As(err, target) }
	switch want {
	case "ok":
		return err == nil
	case "deadline":
		return errors.Is(err, context.DeadlineExceeded)
	case "protocol":
		return as(new(*remote.ProtocolError))
	case "execution":
		return as(new(*remote.ExecutionError))
	case "skew":
		return as(new(*remote.VersionSkewError))
	case "gone":
		return errors.Is(err, remote.ErrSandboxGone)
	case "exit 1", "exit 7":
		e, ok := errors.AsType[*remote.ExitError](err)
		return ok && fmt.Sprint("exit ", e.Code) == want && (e.Code != 1 || strings.Contains(e.Stderr, "shared object"))
	}
	return false
}

// watchHeap samples the heap until it is asked for the peak.
func watchHeap() (peak func() uint64) {
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		var m runtime.MemStats
		var max uint64
		for {
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > max {
				max = m.HeapAlloc
			}
			select {
			case <-tick.C:
			case <-stop:
				most <- max
				return
			}
		}
	}()
	return func() uint64 { close(stop); return <-most }
}

// stock is what a process may leak.
type stock struct{ goroutines, files int }

func takeStock() stock {
	files, _ := os.ReadDir("/proc/self/fd")
	return stock{runtime.NumGoroutine(), len(files)}
}

// check waits until there is no more than before.
func (s stock) check(t *testing.T) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		now := takeStock()
		if now.goroutines <= s.goroutines && now.files <= s.files {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			buf := make([]byte, 1<<20)
			t.Errorf("%+v before, %+v now:\n%s", s, now, buf[:runtime.Stack(buf, true)])
			return
		}
	}
}
