package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/wire"
)

// runOnce makes one call in a sandbox to which no stream can be kept. The result is on disk before
// it is reported, and the claim is locked until then, so that runResult can wait for it.
func runOnce() int {
	frames, err := takeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	nonce, id := take(callproc.EnvNonce), take(callproc.EnvCall)
	w := wire.NewWriter(frames, nonce)
	c, err := describedCall(id, nonce)
	st, stErr := openState()
	mendEnvironment()
	if err := errors.Join(err, stErr); err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	w.Hello(wire.Hello{Version: wire.Version, PID: os.Getpid()})
	ok, claim, err := st.claim(id)
	if err != nil || !ok {
		outcome, message := wire.Duplicate, "this call was made before"
		if err != nil {
			outcome, message = unclaimed(err), err.Error()
		}
		report(w, st, id, &record{Response: &wire.Response{Version: wire.Version, Outcome: outcome, Message: wire.Text(message)}})
		return 0
	}
	lock(claim)
	claim.WriteString("locked")
	proc.Subreaper()
	c.Request.OutFile = st.outFile(id)
	c.Stdout, c.Stderr = outputWriter{w, wire.KindStdout, id}, outputWriter{w, wire.KindStderr, id}
	var left []*proc.Pump
	result, err := callproc.Run(context.Background(), c, func(files []*os.File) (driver.Process, error) {
		return spawn(id, nonce, files)
	}, func(p *proc.Pump) { left = append(left, p) })
	leaveDraining(left)
	if err != nil {
		result = &callproc.Result{Response: &wire.Response{Version: wire.Version, Outcome: wire.Unrecorded, Message: wire.Text(err.Error())}}
	}
	r := &record{
		Response: result.Response,
		Exit:     wire.Exit{Code: result.Status.Code, Signal: result.Status.Signal, Deadline: result.Late, Broken: broken(result)},
	}
	if err := r.save(st, id, result.Data); err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: keeping the result:", err)
	}
	claim.Close()
	report(w, st, id, r)
	return 0
}

// describedCall is the call that the environment describes.
func describedCall(id, nonce string) (*callproc.Call, error) {
	c := &callproc.Call{ID: id, Nonce: nonce}
	if !wire.ValidID(id) {
		return nil, fmt.Errorf("a malformed call id %q", id)
	}
	if err := json.Unmarshal([]byte(take(callproc.EnvRequest)), &c.Request); err != nil {
		return nil, fmt.Errorf("the request: %w", err)
	}
	input, err := base64.StdEncoding.DecodeString(take(callproc.EnvInput))
	c.Input = input
	return c, err
}

// runResult sends the result of a call that runOnce made, waiting for it if it still runs.
func runResult() int {
	frames, err := takeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	nonce, id := take(callproc.EnvNonce), take(callproc.EnvCall)
	w := wire.NewWriter(frames, nonce)
	st, err := openState()
	if err != nil || !wire.ValidID(id) {
		fmt.Fprintln(os.Stderr, "remote-box runner: no such call:", id, err)
		return 2
	}
	w.Hello(wire.Hello{Version: wire.Version, PID: os.Getpid()})
	r, err := awaitRecord(st, id)
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 1
	}
	report(w, st, id, r)
	return 0
}

// awaitRecord waits until no runner holds the call's claim, and reads what it left.
func awaitRecord(st state, id string) (*record, error) {
	for try := 0; ; try++ {
		claim, err := os.OpenFile(st.claimFile(id), os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return &record{Response: &wire.Response{Version: wire.Version, Outcome: wire.NoSuchCall}}, nil
		}
		if err != nil {
			return nil, err
		}
		lock(claim)
		info, err := claim.Stat()
		claim.Close()
		if err != nil {
			return nil, err
		}
		// An empty claim is one that its runner has made but not yet locked.
		if info.Size() > 0 || try == 100 {
			return load(st, id)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// record is a result as it is kept on disk, beside its output.
type record struct {
	Response *wire.Response `json:"response,omitempty"`
	Exit     wire.Exit      `json:"exit"`
}

// save writes the output first and the record last, each under its name only when it is complete.
func (r *record) save(st state, id string, data []byte) error {
	out := st.outFile(id)
	if r.Response != nil && !r.Response.InFile && len(data) > 0 {
		if err := writeFile(out, data); err != nil {
			return err
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return writeFile(out+".json", b)
}

func writeFile(name string, data []byte) error {
	f, err := createOut(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, publish(f, name))
}

// load reads what save wrote. A claim without a record is a call whose runner died.
func load(st state, id string) (*record, error) {
	b, err := os.ReadFile(st.outFile(id) + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return &record{Exit: wire.Exit{Code: -1, Signal: proc.SignalName(9)}}, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(record)
	return r, json.Unmarshal(b, r)
}

// report sends a record and its output.
func report(w *wire.Writer, st state, id string, r *record) {
	if r.Response != nil {
		resp := *r.Response
		resp.InFile = resp.InFile && os.Getenv(callproc.EnvShared) != ""
		w.Message(wire.KindResult, id, resp)
		if resp.Size > 0 && !resp.InFile {
			if f, err := os.Open(st.outFile(id)); err == nil {
				w.Copy(id, f)
				f.Close()
			}
		}
	}
	w.Message(wire.KindExit, id, r.Exit)
}
