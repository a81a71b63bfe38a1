//go:build unix

package remote_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/wire"
)

// evilVariable makes this program a runner that does not keep to the protocol: its value names
// what it does.
const evilVariable = "UNTRUSTED_TEST_EVIL"

// It is looked at while packages initialise, before TestMain makes the program a proper runner.
var _ = beEvil()

// evil is such a runner. It speaks the protocol as far as it wants to, whichever way it was started.
type evil struct {
	raw    *os.File // where its frames go
	frames *wire.Writer
	nonce  string
	id     string // of the call
	out    string // where the result may be a file
}

func beEvil() bool {
	name := os.Getenv(evilVariable)
	if name == "" || os.Getenv(callproc.EnvMode) == "" {
		return false
	}
	for _, a := range attacks {
		if a.name == name {
			e := &evil{raw: os.Stdout, nonce: os.Getenv(callproc.EnvNonce), id: os.Getenv(callproc.EnvCall)}
			if os.Getenv(callproc.EnvMode) == callproc.ModeCall {
				e.raw = os.NewFile(4, "result")
			}
			e.frames = wire.NewWriter(e.raw, e.nonce)
			a.do(e)
			os.Exit(0)
		}
	}
	os.Exit(99)
	return true
}

// greet says hello and gets the call.
func (e *evil) greet() {
	e.frames.Hello(wire.Hello{Version: wire.Version, PID: os.Getpid()})
	e.receive()
}

// receive gets the call.
func (e *evil) receive() {
	in := os.Stdin
	switch os.Getenv(callproc.EnvMode) {
	case callproc.ModeOnce, callproc.ModeResult:
		return
	case callproc.ModeCall:
		in = os.NewFile(3, "call")
	}
	r := wire.NewReader(in, e.nonce, nil)
	for {
		f, err := r.Next()
		if err != nil {
			os.Exit(98)
		}
		if f.Kind == wire.KindCall {
			var req wire.Request
			if f.Decode(&req) != nil {
				os.Exit(97)
			}
			e.id, e.out = f.Call, req.OutFile
			if e.out == "" {
				e.out = callproc.OutFile(os.Getenv(callproc.EnvState), e.id)
			}
			return
		}
	}
}

// result sends a response, of the present version if it says nothing else, and a piece of output.
func (e *evil) result(r wire.Response, data string) {
	if r.Version == 0 {
		r.Version = wire.Version
	}
	e.frames.Message(wire.KindResult, e.id, r)
	e.frames.Data(wire.KindData, e.id, []byte(data))
}

func (e *evil) ok(data string) {
	e.result(wire.Response{Outcome: wire.OK, Size: int64(len(data))}, data)
}

// end says that the call has ended, and waits for its own end.
func (e *evil) end() {
	e.frames.Message(wire.KindExit, e.id, wire.Exit{})
	e.linger()
}

// linger waits as a proper runner does: a supervisor for its host.
func (e *evil) linger() {
	if os.Getenv(callproc.EnvMode) == callproc.ModeServe {
		io.Copy(io.Discard, os.Stdin)
	}
	os.Exit(0)
}

func (e *evil) sleep() { time.Sleep(5 * time.Minute) }

// flood writes text without end.
func (e *evil) flood(text string) {
	b := bytes.Repeat([]byte(text), 1+64<<10/len(text))
	for {
		if _, err := e.raw.Write(b); err != nil {
			e.sleep() // even when nobody listens
		}
	}
}

// start is what a frame begins with.
func (e *evil) start(kind wire.Kind) string {
	return fmt.Sprintf("~rb1 %s %c %s ", e.nonce, kind, e.id)
}

// inFile announces a result in a file.
func (e *evil) inFile(size int64) {
	e.result(wire.Response{Outcome: wire.OK, Size: size, InFile: true}, "")
	e.end()
}

// file writes the result's file.
func (e *evil) file(text string) {
	os.MkdirAll(filepath.Dir(e.out), 0o700)
	os.WriteFile(e.out, []byte(text), 0o600)
}

// The ways that a runner is started.
const (
	solo   = 1 << iota // one process for one call, descriptors shared
	local              // a supervisor that shares files
	stream             // a supervisor behind a stream
	once               // an Exec for every call
	all    = solo | local | stream | once
	shared = solo | local
)

// attacks are what evil runners do, and what their callers must be told: want by default, else
// what is said for a way. A "deadline" attack lasts as long as its call's context.
var attacks = []struct {
	name string
	do   func(*evil)
	ways int
	want string
	but  map[int]string
}{
	{"endless text before hello", func(e *evil) { e.flood("x") }, all, "deadline", nil},
	{"endless text after hello", func(e *evil) { e.greet(); e.flood("x\n") }, all, "deadline", nil},
	{"endless beginnings of frames", func(e *evil) { e.greet(); e.flood("~rb1 " + e.nonce[:25]) }, all, "deadline", nil},
	{"never a hello", (*evil).sleep, all, "deadline", nil},
	{"never a result", func(e *evil) { e.greet(); e.sleep() }, all, "deadline", nil},
	{"endless output", func(e *evil) { e.greet(); e.flood(e.start(wire.KindStdout) + "eHh4\n") }, stream | local | once, "deadline", nil},
	{"endless empty output", func(e *evil) { e.greet(); e.flood(e.start(wire.KindStderr) + "\n") }, stream | local | once, "deadline", nil},
	{"a frame without end before hello", func(e *evil) {
		e.receiveLater()
		e.raw.WriteString(e.start(wire.KindHello))
		e.flood("AAAA")
	}, all, "protocol", nil},
	{"a frame without end", func(e *evil) { e.greet(); e.raw.WriteString(e.start(wire.KindResult)); e.flood("AAAA") }, all, "protocol", nil},
	{"a truncated frame", func(e *evil) { e.greet(); e.raw.WriteString(e.start(wire.KindResult) + "eyJ2") }, all, "protocol", map[int]string{stream: "gone", local: "gone"}},
	{"a truncated result", func(e *evil) { e.greet(); e.result(wire.Response{Outcome: wire.OK, Size: 100}, "half"); e.end() }, all, "protocol", nil},
	{"a malformed frame and then no end", func(e *evil) { e.greet(); e.raw.WriteString(e.start(wire.KindResult) + "!!!\n"); e.flood("x") }, all, "protocol", nil},
	{"a result that is no JSON", func(e *evil) { e.greet(); e.frames.Frame(wire.KindResult, e.id, []byte("{")); e.end() }, all, "protocol", nil},
	{"an unknown kind of frame", func(e *evil) { e.greet(); e.frames.Frame('?', e.id, nil); e.sleep() }, all, "protocol", nil},
	{"forged nonces", func(e *evil) {
		e.greet()
		wire.NewWriter(e.raw, strings.Repeat("z", 26)).Message(wire.KindResult, e.id, wire.Response{Version: wire.Version, Outcome: wire.Panicked})
		e.ok(`"fine"`)
		e.end()
	}, all, "ok", nil},
	{"frames of another call", func(e *evil) {
		e.greet()
		e.frames.Message(wire.KindResult, "anothercall", wire.Response{Version: wire.Version, Outcome: wire.Panicked})
		e.ok(`"fine"`)
		e.end()
	}, all, "ok", map[int]string{solo: "protocol", once: "protocol"}},
	{"two results", func(e *evil) { e.greet(); e.ok(`"fine"`); e.ok(`"second"`); e.end() }, all, "protocol", map[int]string{solo: "ok"}},
	{"no hello but a result", func(e *evil) { e.receiveLater(); e.ok(`"fine"`); e.end() }, all, "protocol", nil},
	{"data before a result", func(e *evil) { e.greet(); e.frames.Data(wire.KindData, e.id, []byte("x")); e.sleep() }, all, "protocol", nil},
	{"a result and then no end", func(e *evil) {
		e.greet()
		e.ok(`"fine"`)
		e.frames.Message(wire.KindExit, e.id, wire.Exit{})
		e.flood("x")
	}, all, "ok", nil},
	{"a larger result than announced", func(e *evil) { e.greet(); e.result(wire.Response{Outcome: wire.OK, Size: 3}, `"fine"`); e.sleep() }, all, "protocol", nil},
	{"a result of negative size", func(e *evil) { e.greet(); e.result(wire.Response{Outcome: wire.OK, Size: -1}, ""); e.sleep() }, all, "protocol", nil},
	{"empty pieces without end", func(e *evil) {
		e.greet()
		e.result(wire.Response{Outcome: wire.OK, Size: 3}, "")
		e.flood(e.start(wire.KindData) + "\n")
	}, all, "protocol", nil},
	{"a result that is announced as too large", func(e *evil) { e.greet(); e.result(wire.Response{Outcome: wire.OK, Size: 1 << 40}, "x"); e.end() }, all, "protocol", nil},
	{"a large result that never comes", func(e *evil) { e.greet(); e.result(wire.Response{Outcome: wire.OK, Size: 1 << 30}, ""); e.sleep() }, all, "deadline", nil},
	{"a result file that is not there", func(e *evil) { e.greet(); e.inFile(10) }, all, "protocol", nil},
	{"a result file of another size", func(e *evil) { e.greet(); e.file(`"fine"` + strings.Repeat(" ", 1<<20)); e.inFile(6) }, shared, "protocol", nil},
	{"a result file that is too large", func(e *evil) { e.greet(); e.file(""); os.Truncate(e.out, 1<<40); e.inFile(1 << 40) }, shared, "protocol", nil},
	{"a result file that is a link", func(e *evil) {
		e.greet()
		e.file("")
		os.Remove(e.out)
		os.WriteFile(e.out+".target", []byte(`"secret"`), 0o600)
		os.Symlink(e.out+".target", e.out)
		e.inFile(8)
	}, shared, "protocol", nil},
	{"a result file that is a FIFO", func(e *evil) { e.greet(); e.file(""); os.Remove(e.out); syscall.Mkfifo(e.out, 0o600); e.inFile(0) }, shared, "protocol", nil},
	{"a result file that is a directory", func(e *evil) { e.greet(); os.MkdirAll(e.out, 0o700); e.inFile(4096) }, shared, "protocol", nil},
	{"a chain of errors too deep to read", func(e *evil) { e.greet(); e.chain(10_000); e.end() }, all, "protocol", nil},
	{"a deep chain of errors", func(e *evil) { e.greet(); e.chain(4_000); e.end() }, all, "execution", nil},
	{"a failure without an error", func(e *evil) { e.greet(); e.result(wire.Response{Outcome: wire.Failed}, ""); e.end() }, all, "execution", nil},
	{"a result that is not UTF-8", func(e *evil) { e.greet(); e.ok("\"\xff\""); e.end() }, all, "protocol", nil},
	{"a result of the wrong type", func(e *evil) { e.greet(); e.ok(`{"a":1}`); e.end() }, all, "protocol", nil},
	{"a result that is nothing", func(e *evil) { e.greet(); e.ok(""); e.end() }, all, "protocol", nil},
	{"two values", func(e *evil) { e.greet(); e.ok(`"fine""fine"`); e.end() }, all, "protocol", nil},
	{"a deeply nested result", func(e *evil) { e.greet(); e.ok(strings.Repeat("[", 1<<20)); e.end() }, all, "protocol", nil},
	{"an unknown outcome", func(e *evil) { e.greet(); e.result(wire.Response{Outcome: "fabulous"}, ""); e.end() }, all, "protocol", nil},
	{"another version in hello", func(e *evil) { e.frames.Hello(wire.Hello{Version: 2}); e.sleep() }, all, "skew", nil},
	{"another version in the response", func(e *evil) { e.greet(); e.result(wire.Response{Version: 2, Outcome: wire.OK}, ""); e.sleep() }, all, "skew", nil},
	{"other types", func(e *evil) {
		e.greet()
		e.result(wire.Response{Outcome: wire.Skew, Message: "other types"}, "")
		e.end()
	}, all, "skew", nil},
	{"no such function", func(e *evil) {
		e.greet()
		e.result(wire.Response{Outcome: wire.Unknown, Message: "no such"}, "")
		e.end()
	}, all, "skew", nil},
	{"garbage", func(e *evil) { io.WriteString(e.raw, strings.Repeat("\x00\xff garbage ~rb1 \n", 1000)) }, all, "protocol", nil},
	{"nothing at all", func(*evil) {}, all, "protocol", nil},
	{"a failure of its own", func(*evil) { fmt.Fprintln(os.Stderr, "cannot open shared object"); os.Exit(1) }, all, "exit 1", nil},
	{"hello and then its end", func(e *evil) { e.greet(); os.Exit(7) }, all, "exit 7", map[int]string{stream: "gone", local: "gone"}},
}

// receiveLater gets the call where it comes before hello.
func (e *evil) receiveLater() {
	switch os.Getenv(callproc.EnvMode) {
	case callproc.ModeCall:
		e.receive()
	case callproc.ModeServe:
		e.id = "unknown"
	}
}

// chain sends an error that wraps n others, one inside the other.
func (e *evil) chain(n int) {
	body, _ := json.Marshal(wire.Response{Version: wire.Version, Outcome: wire.Failed, Error: &wire.Error{Message: "outermost"}})
	at := bytes.LastIndexByte(body[:len(body)-1], '}')
	deep := string(body[:at]) + strings.Repeat(`,"wraps":[{"message":""`, n) + strings.Repeat(`}]`, n) + string(body[at:])
	line := e.start(wire.KindResult) + base64.StdEncoding.EncodeToString([]byte(deep)) + "\n"
	io.WriteString(e.raw, line)
}
