// Package wire is the protocol between a host and a runner.
//
// Both directions are lines of plain ASCII, because some providers merge a process's streams and
// some decode them as text. A frame is one line:
//
//	~rb1 NONCE KIND CALL BASE64
//
// NONCE is chosen at random by the host for every runner that it starts, so that nothing a
// function prints can be taken for a frame. KIND is one letter, CALL a call id or "-", BASE64 the
// frame's body in standard base64 with padding: JSON for the messages of this package, plain bytes
// for the rest. A runner's first frame, its Hello, is preceded by a newline, which ends whatever
// the program printed before its main function ran. A frame may begin anywhere in a line, so that
// text without a newline before it does no harm; it lasts until the line's end. All else is output.
//
// A change of these bytes needs a new Version: the files in testdata hold them fast.
package wire

import (
	"fmt"
	"strings"
	"time"
)

// Version is the version of the protocol. Host and runner must agree on it.
const Version = 1

// Sizes that both sides keep to.
const (
	// ChunkSize is the largest body of a data or output frame.
	ChunkSize = 32 << 10
	// MaxBody is the largest body of any frame; it bounds what a reader holds in memory.
	MaxBody = 256 << 10
	// InlineMax is the largest payload that travels inside a request or result; larger ones are
	// files where host and runner share a file system.
	InlineMax = 64 << 10
)

// Kind is what a frame means.
type Kind byte

// Frames from the host.
const (
	KindCall   Kind = 'C' // Request; its input follows in KindData frames unless it is a file
	KindCancel Kind = 'X' // end this call
	KindQuery  Kind = 'Q' // Query: send this call's result again, waiting for it if it still runs
	KindForget Kind = 'F' // the result has arrived; drop it
	KindQuit   Kind = 'K' // end everything and exit
)

// Frames from the runner.
const (
	KindHello  Kind = 'h' // Hello
	KindStdout Kind = 'o' // what the function or its children printed
	KindStderr Kind = 'e'
	KindResult Kind = 'r' // Response; its output follows in KindData frames unless it is a file
	KindExit   Kind = 'x' // Exit: the call's process has ended; nothing follows for this call
)

// KindData carries a piece of a payload, in either direction.
const KindData Kind = 'd'

// NoCall stands for the call id in frames that belong to no call.
const NoCall = "-"

// VersionError says that the other side speaks another version of the protocol.
type VersionError struct {
	Runner int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the runner speaks version %d of the protocol, this program version %d", e.Runner, Version)
}

// Hello is a runner's first frame.
type Hello struct {
	Version int `json:"v"`
	PID     int `json:"pid"`
	// Instance names the memory of a supervisor that outlives its connections: one that greets
	// again under the same name still knows which calls were accepted.
	Instance string `json:"instance,omitempty"`
}

// Request asks for one call.
type Request struct {
	Version     int    `json:"v"`
	Function    string `json:"fn"`
	Fingerprint string `json:"types"`
	// Left is the time that the call may take, 0 for no limit. It is a duration because the
	// clocks of host and sandbox differ.
	Left time.Duration `json:"left,omitempty"`
	// Trace carries trace context (W3C traceparent and the like).
	Trace map[string]string `json:"trace,omitempty"`
	// Size is the input's length in bytes. File, if not empty, is where it is.
	Size int64  `json:"size"`
	File string `json:"file,omitempty"`
	// OutFile, if not empty, is where the runner puts a result larger than InlineMax.
	OutFile string `json:"out,omitempty"`
	// Once says that the sandbox ends with this call: no process may outlive it.
	Once bool `json:"once,omitempty"`
}

// Query asks for the rest of a call whose connection broke.
type Query struct {
	// Stdout and Stderr are how many bytes of them have arrived.
	Stdout int64 `json:"stdout,omitempty"`
	Stderr int64 `json:"stderr,omitempty"`
}

// Outcome is what became of a call.
type Outcome string

// The outcomes.
const (
	OK           Outcome = "ok"         // the output follows
	Failed       Outcome = "failed"     // the function returned an error
	Panicked     Outcome = "panicked"   // Stack tells where
	BadInput     Outcome = "input"      // the input could not be decoded; nothing ran
	BadOutput    Outcome = "output"     // the function ran; Field says what can't travel
	Unknown      Outcome = "unknown"    // the runner has no such function; nothing ran
	Skew         Outcome = "skew"       // the function's types differ; nothing ran
	Duplicate    Outcome = "duplicate"  // this call id was seen before; nothing ran now
	NoSuchCall   Outcome = "lost"       // the answer to KindQuery for a call that never arrived
	Unrecorded   Outcome = "unrecorded" // the runner could not accept the call; nothing ran
	Gone         Outcome = "gone"       // the sandbox's files have been removed; nothing ran
	Incompatible Outcome = "version"    // the protocol's versions differ; nothing ran
)

// Response is how a call ended.
type Response struct {
	Version int     `json:"v"`
	Outcome Outcome `json:"outcome"`
	Size    int64   `json:"size,omitempty"` // of the output
	InFile  bool    `json:"file,omitempty"` // the output is in Request.OutFile
	Error   *Error  `json:"error,omitempty"`
	Field   string  `json:"field,omitempty"`
	Message Text    `json:"message,omitempty"`
	Stack   Text    `json:"stack,omitempty"`
	Value   Text    `json:"value,omitempty"` // of a panic
}

// Exit is how a call's process ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// Deadline says that the runner ended the call because its time was up.
	Deadline bool `json:"deadline,omitempty"`
	// OOM says that the process was killed because memory ran out.
	OOM bool `json:"oom,omitempty"`
	// Broken says what was wrong with the answer of a process that gave none.
	Broken string `json:"broken,omitempty"`
}

// Error is an error value and the errors that it wraps.
type Error struct {
	Type    string `json:"type"`
	Message Text   `json:"message"`
	// Detail is how the error formats itself with %+v, where that differs from Message.
	Detail Text `json:"detail,omitempty"`
	// Known names the registered error that this is; Data is its JSON where it has some.
	Known string `json:"known,omitempty"`
	Data  []byte `json:"data,omitempty"`
	// Is names the registered errors for which the error's own Is method answered true.
	Is    []string `json:"is,omitempty"`
	Wraps []*Error `json:"wraps,omitempty"`
}

// ValidID reports whether id can stand in a frame as a call id, and as a file name.
func ValidID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z')
	}) < 0
}
