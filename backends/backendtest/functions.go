package backendtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"github.com/remote-box/remote"
)

// Everything is a value of many types, to be sent there and back.
type Everything struct {
	String  string
	Bytes   []byte
	Int     int64
	Uint    uint64
	Float   float64
	Bool    bool
	Time    time.Time
	Pointer *Everything
	Slice   []Everything
	Map     map[string]int
	Raw     json.RawMessage
	Empty   struct{}
}

// Failing is a registered error type.
type Failing struct{ Code int }

func (f *Failing) Error() string { return fmt.Sprintf("failing with %d", f.Code) }

// ErrMarked is a registered sentinel.
var ErrMarked = remote.RegisterError(errors.New("marked"))

var _ = remote.RegisterError(&Failing{})

type nothing struct{}

// The functions. They are registered here, in a package that is no test, so that runners have them.
var (
	echo = remote.New(func(_ context.Context, in Everything) (Everything, error) { return in, nil }, remote.Name("echo"))

	size = remote.New(func(_ context.Context, in string) (int, error) { return len(in), nil }, remote.Name("size"))

	fill = remote.New(func(_ context.Context, n int) (string, error) { return strings.Repeat("x", n), nil }, remote.Name("fill"))

	fail = remote.New(func(_ context.Context, how string) (nothing, error) {
		switch how {
		case "marked":
			return nothing{}, fmt.Errorf("outer: %w", ErrMarked)
		case "type":
			return nothing{}, fmt.Errorf("outer: %w", &Failing{42})
		case "join":
			return nothing{}, errors.Join(io.ErrUnexpectedEOF, fmt.Errorf("second: %w", ErrMarked))
		case "file":
			_, err := os.Open("/does/not/exist")
			return nothing{}, err
		case "plain":
			return nothing{}, errors.New("plain \"text\"\nin two lines ✓")
		}
		return nothing{}, nil
	}, remote.Name("fail"))

	explode = remote.New(func(_ context.Context, how string) (float64, error) {
		switch how {
		case "panic":
			panic("boom")
		case "panic error":
			panic(fmt.Errorf("wrapped: %w", ErrMarked))
		case "exit":
			fmt.Fprintln(os.Stderr, "last words")
			os.Exit(3)
		case "exit 0":
			os.Exit(0)
		case "kill":
			killSelf()
		case "nan":
			return math.NaN(), nil
		}
		return 0, nil
	}, remote.Name("explode"))

	say = remote.New(func(_ context.Context, in [2]string) (nothing, error) {
		fmt.Print(in[0])
		fmt.Fprint(os.Stderr, in[1])
		return nothing{}, nil
	}, remote.Name("say"))

	sayAll = remote.New(func(context.Context, nothing) (nothing, error) {
		fmt.Println("go out")
		fmt.Fprintln(os.Stderr, "go err")
		writeFD(1, "fd out\n")
		writeFD(2, "fd err\n")
		return nothing{}, runChild("say")
	}, remote.Name("sayAll"))

	noise = remote.New(func(_ context.Context, n int) (int, error) {
		for i := range n {
			os.Stdout.Write([]byte{byte(i), '\n', 0xff, 0, '~', 'r', 'b', '1', ' ', byte(i * 7)})
		}
		fmt.Print("~rb1 abcdefghijklmnopqrstuvwxyz r - e30=\n~rb1 no newline at the end")
		return n, nil
	}, remote.Name("noise"))

	// wait prints "ready" and waits for its context.
	wait = remote.New(func(ctx context.Context, _ nothing) (nothing, error) {
		fmt.Println("ready")
		<-ctx.Done()
		return nothing{}, ctx.Err()
	}, remote.Name("wait"))

	// why prints "ready", waits for its context and notes in a file why that has ended.
	why = remote.New(func(ctx context.Context, note string) (nothing, error) {
		fmt.Println("ready")
		<-ctx.Done()
		err := os.WriteFile(note+".new", []byte(ctx.Err().Error()), 0o600)
		return nothing{}, errors.Join(ctx.Err(), err, os.Rename(note+".new", note))
	}, remote.Name("why"))

	// stubborn starts a grandchild in a session of its own, notes its pid in a file, prints
	// "ready" and ignores its context.
	stubborn = remote.New(func(_ context.Context, note string) (nothing, error) {
		pid, err := startChild("sleep")
		if err != nil {
			return nothing{}, err
		}
		if err := os.WriteFile(note, fmt.Append(nil, pid, " ", os.Getpid()), 0o600); err != nil {
			return nothing{}, err
		}
		fmt.Println("ready")
		select {}
	}, remote.Name("stubborn"))

	// background leaves a process running that prints all the time and returns its pid.
	background = remote.New(func(context.Context, nothing) (int, error) {
		return startChild("chatter")
	}, remote.Name("background"))

	alive = remote.New(func(_ context.Context, pid int) (bool, error) { return processAlive(pid), nil }, remote.Name("alive"))

	write = remote.New(func(_ context.Context, in [2]string) (nothing, error) {
		return nothing{}, os.WriteFile(in[0], []byte(in[1]), 0o600)
	}, remote.Name("write"))

	read = remote.New(func(_ context.Context, name string) (string, error) {
		b, err := os.ReadFile(name)
		return string(b), err
	}, remote.Name("read"))

	counting = remote.New(func(context.Context, nothing) (int, error) { calls++; return calls, nil }, remote.Name("counted"))

	// meet makes its own file and waits until the other's is there too.
	meet = remote.New(func(ctx context.Context, in [2]string) (nothing, error) {
		if err := os.WriteFile(in[0], nil, 0o600); err != nil {
			return nothing{}, err
		}
		return nothing{}, poll(ctx, func() bool { _, err := os.Stat(in[1]); return err == nil })
	}, remote.Name("meet"))

	// alone fails if another call of it runs at the same time.
	alone = remote.New(func(_ context.Context, name string) (nothing, error) {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nothing{}, errors.New("another call runs")
		}
		if err != nil {
			return nothing{}, err
		}
		f.Close()
		time.Sleep(20 * time.Millisecond) // long enough for another to be caught
		return nothing{}, os.Remove(name)
	}, remote.Name("alone"))

	look = remote.New(func(ctx context.Context, _ nothing) (surroundings, error) {
		stdin, err := io.ReadAll(os.Stdin)
		if err != nil {
			return surroundings{}, err
		}
		tmp, err := os.CreateTemp("", "x")
		if err != nil {
			return surroundings{}, err
		}
		defer os.Remove(tmp.Name())
		return surroundings{
			Env: os.Environ(), Stdin: stdin, Inside: remote.InRemoteExecution(),
			Trace: remote.TraceFromContext(ctx),
		}, tmp.Close()
	}, remote.Name("look"))

	nested = remote.New(func(ctx context.Context, _ nothing) ([2]int, error) {
		pid, err := mine.Call(ctx, nothing{})
		return [2]int{os.Getpid(), pid}, err
	}, remote.Name("nested"))

	mine = remote.New(func(context.Context, nothing) (int, error) { return os.Getpid(), nil }, remote.Name("mine"))
)

// surroundings is what a function finds.
type surroundings struct {
	Env    []string
	Stdin  []byte
	Inside bool
	Trace  map[string]string
}

// calls is a package variable, which must not last from call to call.
var calls int

func poll(ctx context.Context, ready func() bool) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ready() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
