package runner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/wire"
)

// runOnce makes one call in a sandbox to which no stream can be kept. The result is on disk before
// it is reported, and the claim is locked until then, so that runResult can wait for it.
func runOnce() int {
	surviveHangup()
	frames, err := takeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	nonce, id, shared := take(callproc.EnvNonce), take(callproc.EnvCall), take(callproc.EnvShared) != ""
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
		report(w, st, id, &record{Response: &wire.Response{Version: wire.Version, Outcome: outcome, Message: wire.Text(message)}}, nil, shared)
		return 0
	}
	lock(claim)
	fmt.Fprintf(claim, claimRunning, os.Getpid())
	st.forgetOld()
	proc.Subreaper()
	if c.Request.File != "" {
		defer os.Remove(c.Request.File) // it was put there for this call
	}
	c.Request.OutFile = st.outFile(id)
	t := &tape{call: id, keep: tapeSize, to: w}
	c.Stdout, c.Stderr = tapeWriter{t, wire.KindStdout}, tapeWriter{t, wire.KindStderr}
	unshare := share(st.outputSocket(id), t)
	var left []*proc.Pump
	kills := oomKills()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	result, err := callproc.Run(ctx, c, func(files []*os.File) (driver.Process, error) {
		return spawn(id, nonce, files)
	}, func(p *proc.Pump) { left = append(left, p) })
	if err == nil && result.Response == nil {
		endDescendants(true) // what its process did not get to ending, tagged or not
	}
	leaveDraining(left)
	if err != nil {
		result = &callproc.Result{Response: &wire.Response{Version: wire.Version, Outcome: wire.Unrecorded, Message: wire.Text(err.Error())}}
	}
	r := &record{
		Response: result.Response,
		Exit:     wire.Exit{Code: result.Status.Code, Signal: result.Status.Signal, Deadline: result.Late, Broken: broken(result)},
	}
	r.Stdout, r.Stderr = t.reels()
	r.Exit.OOM = r.Exit.Signal == "SIGKILL" && oomKills() > kills
	if err := r.save(st, id, result.Data); err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: keeping the result:", err)
	}
	claim.Close()
	unshare()
	report(w, st, id, r, result.Data, shared)
	return 0
}

// surviveHangup lets this process outlive its connection, in which the result would be lost with
// it. What it starts has the signals' default actions, because these are caught, not ignored.
func surviveHangup() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
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
