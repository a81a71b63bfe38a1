package wire

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A golden file that changes is a host that no longer understands yesterday's runners: count
// Version up, then update.
var update = flag.Bool("update", false, "rewrite the golden files")

const (
	goldenNonce = "abcdefghijklmnopqrstuvwxyz"
	goldenCall  = "c4llc4llc4llc4llc4llc4llca"
)

// goldenMessages are one of each message, every field set in one of its kind.
var goldenMessages = []struct {
	name string
	kind Kind
	call string
	v    any
}{
	{"request", KindCall, goldenCall, &Request{
		Version: Version, Function: "example.com/tasks.greet", Fingerprint: "00112233445566778899aabbccddeeff",
		Left: 90 * time.Second, Trace: map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
		Size: 1 << 20, File: "/state/in/file", OutFile: "/state/out/file", Once: true,
	}},
	{"request-small", KindCall, goldenCall, &Request{Version: Version, Function: "main.f", Fingerprint: "ab", Size: 2}},
	{"hello", KindHello, NoCall, &Hello{Version: Version, PID: 4711}},
	{"hello-instance", KindHello, NoCall, &Hello{Version: Version, PID: 1, Instance: "abcdefghijklmnop"}},
	{"result-ok", KindResult, goldenCall, &Response{Version: Version, Outcome: OK, Size: 12}},
	{"result-ok-file", KindResult, goldenCall, &Response{Version: Version, Outcome: OK, Size: 64 << 20, InFile: true}},
	{"result-failed", KindResult, goldenCall, &Response{Version: Version, Outcome: Failed, Error: &Error{
		Type: "*fmt.wrapError", Message: "loading: open /x: no such file or directory", Detail: "loading\n\tmain.go:12",
		Wraps: []*Error{{
			Type: "*fs.PathError", Message: "open /x: no such file or directory",
			Known: "fs.PathError", Data: []byte(`{"Op":"open","Path":"/x"}`),
			Wraps: []*Error{{Type: "syscall.Errno", Message: "no such file or directory", Is: []string{"fs.ErrNotExist"}}},
		}},
	}}},
	{"result-panicked", KindResult, goldenCall, &Response{Version: Version, Outcome: Panicked, Value: "boom", Stack: "goroutine 1 [running]:\nmain.f()"}},
	{"result-input", KindResult, goldenCall, &Response{Version: Version, Outcome: BadInput, Field: "Items[3].Name", Message: "a JSON number where Go has string"}},
	{"result-output", KindResult, goldenCall, &Response{Version: Version, Outcome: BadOutput, Field: "Score", Message: "NaN has no JSON form"}},
	{"result-unknown", KindResult, goldenCall, &Response{Version: Version, Outcome: Unknown, Message: "the runner has no function main.f"}},
	{"result-skew", KindResult, goldenCall, &Response{Version: Version, Outcome: Skew, Message: "in the runner main.f has the types int and string"}},
	{"result-duplicate", KindResult, goldenCall, &Response{Version: Version, Outcome: Duplicate, Message: "this call was made before"}},
	{"result-lost", KindResult, goldenCall, &Response{Version: Version, Outcome: NoSuchCall}},
	{"result-unrecorded", KindResult, goldenCall, &Response{Version: Version, Outcome: Unrecorded, Message: "no space left on device"}},
	{"result-gone", KindResult, goldenCall, &Response{Version: Version, Outcome: Gone, Message: "no such directory"}},
	{"result-version", KindResult, goldenCall, &Response{Version: Version, Outcome: Incompatible, Message: "the runner speaks version 2"}},
	{"result-not-utf8", KindResult, goldenCall, &Response{Version: Version, Outcome: Panicked, Value: "\xff\x00<&>\u2028"}},
	{"exit", KindExit, goldenCall, &Exit{}},
	{"exit-signal", KindExit, goldenCall, &Exit{Code: -1, Signal: "SIGKILL", Deadline: true, OOM: true, Broken: "it ended without a hello"}},
}

// goldenFrames are the kinds whose body is no message.
var goldenFrames = []struct {
	name string
	kind Kind
	call string
	body string
}{
	{"cancel", KindCancel, goldenCall, ""},
	{"query", KindQuery, goldenCall, ""},
	{"forget", KindForget, goldenCall, ""},
	{"quit", KindQuit, NoCall, ""},
	{"data", KindData, goldenCall, `{"greeting":"hello"}` + "\n"},
	{"stdout", KindStdout, goldenCall, "line one\nno newline"},
	{"stderr", KindStderr, goldenCall, "warning\n"},
}

func TestGolden(t *testing.T) {
	names := map[string]bool{}
	for _, m := range goldenMessages {
		names[m.name] = true
		t.Run(m.name, func(t *testing.T) {
			var b bytes.Buffer
			w := NewWriter(&b, goldenNonce)
			var err error
			if h, ok := m.v.(*Hello); ok {
				err = w.Hello(*h)
			} else {
				err = w.Message(m.kind, m.call, m.v)
			}
			if err != nil {
				t.Fatal(err)
			}
			f := checkGolden(t, m.name, b.Bytes())
			got := reflect.New(reflect.TypeOf(m.v).Elem()).Interface()
			if err := f.Decode(got); err != nil {
				t.Fatal(err)
			}
			if f.Kind != m.kind || f.Call != m.call {
				t.Errorf("the golden frame is %c %s", f.Kind, f.Call)
			}
			if diff := cmp.Diff(m.v, got); diff != "" {
				t.Errorf("the golden frame means something else (-want +got):\n%s", diff)
			}
		})
	}
	for _, g := range goldenFrames {
		names[g.name] = true
		t.Run(g.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := NewWriter(&b, goldenNonce).Frame(g.kind, g.call, []byte(g.body)); err != nil {
				t.Fatal(err)
			}
			f := checkGolden(t, g.name, b.Bytes())
			if f.Kind != g.kind || f.Call != g.call || string(f.Body) != g.body {
				t.Errorf("the golden frame is %c %s %q", f.Kind, f.Call, f.Body)
			}
		})
	}
	files, _ := filepath.Glob("testdata/*.golden")
	for _, file := range files {
		if !names[strings.TrimSuffix(filepath.Base(file), ".golden")] {
			t.Errorf("%s belongs to no message", file)
		}
	}
}

// Every outcome and every kind must be pinned.
func TestGoldenComplete(t *testing.T) {
	outcomes := map[Outcome]bool{}
	kinds := map[Kind]bool{}
	for _, m := range goldenMessages {
		kinds[m.kind] = true
		if r, ok := m.v.(*Response); ok {
			outcomes[r.Outcome] = true
		}
	}
	for _, g := range goldenFrames {
		kinds[g.kind] = true
	}
	source, err := os.ReadFile("wire.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), " Outcome = \""); n != len(outcomes) {
		t.Errorf("wire.go has %d outcomes, the golden files %d", n, len(outcomes))
	}
	if n := strings.Count(string(source), " Kind = '"); n != len(kinds) {
		t.Errorf("wire.go has %d kinds of frames, the golden files %d", n, len(kinds))
	}
}

// checkGolden compares a frame with its golden file: the frame as it is sent, and for the reader
// its body in the clear. It returns the file's frame.
func checkGolden(t *testing.T, name string, frame []byte) *Frame {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	f, err := NewReader(bytes.NewReader(frame), goldenNonce, nil).Next()
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.NewBuffer(nil)
	if json.Indent(body, f.Body, "", "  ") != nil {
		body.Write(f.Body)
	}
	got := fmt.Sprintf("== frame\n%s== body\n%s\n", frame, body)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if got != string(want) {
		t.Errorf("the bytes of %s changed, which needs a new Version (now %d). Got\n%s\nwant\n%s", name, Version, got, want)
	}
	raw, _, ok := bytes.Cut(bytes.TrimPrefix(want, []byte("== frame\n")), []byte("== body\n"))
	if !ok {
		t.Fatalf("%s is no golden file", file)
	}
	r := NewReader(bytes.NewReader(raw), goldenNonce, nil)
	golden, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	golden.Body = bytes.Clone(golden.Body)
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("behind the frame: %v", err)
	}
	return &golden
}
