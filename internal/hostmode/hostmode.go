// Package hostmode is what the remote-box command and a program of the user's packages say to each
// other. The command builds such programs (internal/build), starts them with a request, and reads
// what they report from a descriptor that nothing else writes to: what the packages print is not
// mistaken for it. Both sides are always of the same version, that of the user's module, or the
// command says so.
package hostmode

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/remote-box/remote/driver"
)

// Variable names the file of a request. A program that finds it set answers, and does nothing else.
const Variable = "REMOTE_BOX_HOST"

// Version is that of the requests and events below.
const Version = 1

// What can be requested.
const (
	List   = "list"   // the functions and the names of their images
	Build  = "build"  // make the images that are missing
	Check  = "check"  // see which are missing
	Call   = "call"   // call a function
	Stored = "stored" // the images that the sources name, and those that backends have
	Remove = "remove" // remove stored images
	Doctor = "doctor" // diagnose the backends
)

// Request is what a program is to do.
type Request struct {
	Version  int             `json:"version"`
	Op       string          `json:"op"`
	Main     bool            `json:"main"` // only functions of the main package count
	Jobs     int             `json:"jobs"`
	Function string          `json:"function,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	NoImages bool            `json:"no_images,omitempty"` // List: don't compute the images' names
	Remove   []string        `json:"remove,omitempty"`    // "backend name"
	Report   uintptr         `json:"report"`              // descriptor, or handle on Windows
	Terminal uintptr         `json:"terminal,omitempty"`  // Build: where backends may show a live display
}

// Kinds of events.
const (
	Started      = "started"  // the packages have been initialised
	FunctionSeen = "function" // one of the functions
	Building     = "building" // an image's build begins
	Log          = "log"      // what a build says
	ImageDone    = "image"    // what became of an image
	Stdout       = "stdout"   // what a called function prints
	Stderr       = "stderr"
	Result       = "result"  // of a call
	StoredImage  = "stored"  // an image that a backend has
	Removed      = "removed" // it was removed, or not
	Found        = "finding" // what a backend's diagnosis found
	Failed       = "failed"  // the request as a whole failed
	Ended        = "ended"   // the last event
)

// Event is one line of a report.
type Event struct {
	Kind     string              `json:"kind"`
	Version  int                 `json:"version,omitempty"`
	Function *Function           `json:"function,omitempty"`
	Image    *Image              `json:"image,omitempty"`
	Backend  string              `json:"backend,omitempty"`
	Stored   *driver.StoredImage `json:"stored,omitempty"`
	Finding  *driver.Finding     `json:"finding,omitempty"`
	Data     []byte              `json:"data,omitempty"`
	Result   json.RawMessage     `json:"result,omitempty"`
	Failure  *Failure            `json:"failure,omitempty"`
}

// Function is a registered function.
type Function struct {
	ID          string   `json:"id"`
	Package     string   `json:"package"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	In          string   `json:"in"`
	Out         string   `json:"out"`
	File        string   `json:"file"`
	Line        int      `json:"line"`
	Program     string   `json:"program"`
	Backend     string   `json:"backend"`
	Image       string   `json:"image,omitempty"`
	Failure     *Failure `json:"failure,omitempty"`
}

// Image is the report of an image.
type Image struct {
	Status    string        `json:"status"`
	Program   string        `json:"program"`
	Backend   string        `json:"backend"`
	Prefix    string        `json:"prefix,omitempty"`
	Image     string        `json:"image"`
	Local     bool          `json:"local,omitempty"` // the backend has no images
	Functions []string      `json:"functions"`
	Parts     []driver.Part `json:"parts,omitempty"`
	Seconds   float64       `json:"seconds"`
	Failure   *Failure      `json:"failure,omitempty"`
}

// Kinds of failures that the command tells apart.
const (
	FailedCredential = "credential"
	FailedBuild      = "build"
	FailedOther      = "other"
)

// Failure is an error.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"` // the whole of it
	What    string `json:"what,omitempty"`
	Line    int    `json:"line,omitempty"`
	Log     string `json:"log,omitempty"`
}

// Reporter writes events. Its method may be called at once from many goroutines.
type Reporter struct {
	mu  sync.Mutex
	enc *json.Encoder
	err error
}

// NewReporter makes a reporter that writes to f.
func NewReporter(f *os.File) *Reporter { return &Reporter{enc: json.NewEncoder(f)} }

// Report writes an event.
func (r *Reporter) Report(e *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.enc.Encode(e)
	}
}

// Err is the first error of writing, which means that nobody listens any more.
func (r *Reporter) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// ReadRequest reads the request in a file, and opens the report that it names.
func ReadRequest(file string) (*Request, *Reporter, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	r := new(Request)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, nil, err
	}
	if r.Version != Version {
		return nil, nil, fmt.Errorf("the remote-box command speaks version %d, this module's packages version %d; use the command of the module's own version: go tool remote-box", r.Version, Version)
	}
	return r, NewReporter(openReport(r.Report)), nil
}
