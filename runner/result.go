package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/wire"
)

// runResult sends the result of a call that runOnce made, waiting for it if it still runs.
func runResult() int { return runAfter(awaitRecord) }

// runCancel ends the call that runOnce makes, waits for its end, and sends its result.
func runCancel() int {
	return runAfter(func(st state, id string) (*record, error) {
		if pid := st.runningIn(id); pid > 1 {
			if p, err := os.FindProcess(pid); err == nil {
				p.Signal(syscall.SIGTERM)
			}
		}
		return awaitRecord(st, id)
	})
}

// runAfter says what became of an earlier call.
func runAfter(find func(state, string) (*record, error)) int {
	surviveHangup()
	frames, err := takeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	nonce, id, shared := take(callproc.EnvNonce), take(callproc.EnvCall), take(callproc.EnvShared) != ""
	w := wire.NewWriter(frames, nonce)
	st, err := openState()
	if err != nil || !wire.ValidID(id) {
		fmt.Fprintln(os.Stderr, "remote-box runner: no such call:", id, err)
		return 2
	}
	w.Hello(wire.Hello{Version: wire.Version, PID: os.Getpid()})
	has, err := queried()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: what the host has:", err)
		return 2
	}
	relayed := make(chan struct{})
	go func() {
		defer close(relayed)
		if has != nil {
			relay(st.outputSocket(id), nonce, id, w, has)
		}
	}()
	r, err := find(st, id)
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 1
	}
	<-relayed // it ends with the process that made the call, or before
	if has != nil {
		w.Data(wire.KindStdout, id, r.Stdout.from(has.Stdout))
		w.Data(wire.KindStderr, id, r.Stderr.from(has.Stderr))
	}
	report(w, st, id, r, nil, shared)
	return 0
}

// queried is how much the host has of the call's output; nil if it does not want any.
func queried() (*wire.Query, error) {
	text := take(callproc.EnvQuery)
	if text == "" {
		return nil, nil
	}
	q := new(wire.Query)
	return q, json.Unmarshal([]byte(text), q)
}

// What a claim's file holds: the process that makes the call, or that nobody ever will.
const (
	claimRunning = "running %d\n"
	claimNever   = "never\n"
)

// awaitRecord waits until no runner holds the call's claim, and reads what it left. A call that
// has not arrived is claimed, so that it can't begin later: its sender may send it again.
func awaitRecord(st state, id string) (*record, error) {
	never := &record{Response: &wire.Response{Version: wire.Version, Outcome: wire.NoSuchCall}}
	ok, claim, err := st.claim(id)
	if err != nil {
		return nil, err
	}
	if ok {
		_, err := claim.WriteString(claimNever)
		return never, errors.Join(err, claim.Close())
	}
	for try := 0; ; try++ {
		text, err := st.readClaim(id)
		if err != nil {
			return nil, err
		}
		if text == claimNever {
			return never, nil
		}
		// An empty claim is one that its runner has made but not yet locked.
		if text != "" || try == claimTries {
			return load(st, id)
		}
		time.Sleep(claimPause)
	}
}

// How often, and after which pause, an empty claim is looked at again.
const (
	claimTries = 100
	claimPause = 10 * time.Millisecond
)

// readClaim reads a claim when nobody holds it any more.
func (s state) readClaim(id string) (string, error) {
	claim, err := os.Open(s.claimFile(id))
	if err != nil {
		return "", err
	}
	defer claim.Close()
	lock(claim)
	text, err := io.ReadAll(claim)
	return string(text), err
}

// runningIn is the process that makes the call, or 0 if none does.
func (s state) runningIn(id string) (pid int) {
	for range claimTries {
		claim, err := os.Open(s.claimFile(id))
		if err != nil {
			return 0
		}
		text, _ := io.ReadAll(claim)
		free := tryLock(claim)
		claim.Close()
		if len(text) > 0 {
			if _, err := fmt.Sscanf(string(text), claimRunning, &pid); err != nil || free {
				return 0 // it is over
			}
			return pid
		}
		time.Sleep(claimPause)
	}
	return 0
}

// keepResults is how long results are kept whose host has not asked for them again.
const keepResults = time.Hour

// forgetOld removes results that nobody will ask for any more. Their claims stay.
func (s state) forgetOld() {
	dir := filepath.Join(string(s), callproc.OutDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keepResults {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// record is a result as it is kept on disk, beside its output.
type record struct {
	Response *wire.Response `json:"response,omitempty"`
	Exit     wire.Exit      `json:"exit"`
	Stdout   reel           `json:"stdout,omitzero"`
	Stderr   reel           `json:"stderr,omitzero"`
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

// report sends a record and its output: data, or what was kept. A large one stays where it is if
// the host shares the directory.
func report(w *wire.Writer, st state, id string, r *record, data []byte, shared bool) {
	if r.Response != nil {
		resp := *r.Response
		resp.InFile = resp.InFile && shared
		w.Message(wire.KindResult, id, resp)
		switch {
		case resp.Size == 0 || resp.InFile:
		case len(data) > 0:
			w.Data(wire.KindData, id, data)
		default:
			if f, err := os.Open(st.outFile(id)); err == nil {
				w.Copy(id, f)
				f.Close()
			}
		}
	}
	w.Message(wire.KindExit, id, r.Exit)
}
