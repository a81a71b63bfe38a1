package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/codec"
	"github.com/remote-box/remote/internal/errchain"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/registry"
	"github.com/remote-box/remote/internal/trace"
	"github.com/remote-box/remote/internal/wire"
)

// errCanceled is the cause of a function's context that the host cancelled.
var errCanceled = errors.New("the call was cancelled")

// runCall runs one function in this process: the request comes in on descriptor 3, the result
// goes out on 4, and 1 and 2 are the function's own.
func runCall() int {
	proc.Subreaper() // keeps what the function starts below this process while the function runs
	in, out := openFD(3), openFD(4)
	nonce := take(callproc.EnvNonce)
	mendEnvironment()

	r := wire.NewReader(in, nonce, nil)
	w := wire.NewWriter(out, nonce)
	id, req, input, err := readRequest(r)
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: no request:", err)
		return 2
	}

	if err := w.Hello(wire.Hello{Version: wire.Version, PID: os.Getpid()}); err != nil {
		return 1
	}
	ctx, cancel := context.WithCancelCause(trace.With(context.Background(), req.Trace))
	if req.Left > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, req.Left)
		defer stop()
	}
	go watch(r, cancel)

	answered := make(chan *answer, 1)
	go func() {
		a := new(answer)
		defer func() { answered <- a }() // also after runtime.Goexit
		invoke(ctx, req, input, a)
	}()
	a := await(ctx, answered)
	if ctx.Err() != nil || req.Once {
		endDescendants(req.Once && ctx.Err() == nil)
	}
	if a == nil {
		return 1 // it ignored its context; nothing of it is left but this process
	}
	if err := a.send(w, id, req); err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: sending the result:", err)
		return 1
	}
	return 0
}

// readRequest reads the call frame and the input.
func readRequest(r *wire.Reader) (id string, req *wire.Request, input []byte, err error) {
	f, err := r.Next()
	if err != nil {
		return "", nil, nil, err
	}
	id, req = f.Call, new(wire.Request)
	if err := f.Decode(req); err != nil {
		return "", nil, nil, err
	}
	if req.File != "" {
		input, err = os.ReadFile(req.File)
		return id, req, input, err
	}
	var p callproc.Payload
	if err := p.Begin(req.Size, 0); err != nil {
		return "", nil, nil, err
	}
	for !p.Complete() {
		f, err := r.Next()
		if err != nil {
			return "", nil, nil, err
		}
		if f.Kind != wire.KindData {
			return "", nil, nil, errCanceled
		}
		if err := p.Add(f.Body); err != nil {
			return "", nil, nil, err
		}
	}
	return id, req, p.Bytes(), nil
}

// watch cancels the function's context when the parent asks for it. When the parent is gone
// nobody waits for the result any more: the work ends, without its grace.
func watch(r *wire.Reader, cancel context.CancelCauseFunc) {
	for {
		f, err := r.Next()
		if err != nil {
			proc.End(context.Background(), descendants, 0)
			os.Exit(1)
		}
		if f.Kind == wire.KindCancel {
			cancel(errCanceled)
		}
	}
}

// await waits for the function, which gets Grace to return after its context has ended. nil means
// that it did not.
func await(ctx context.Context, answered <-chan *answer) *answer {
	select {
	case a := <-answered:
		return a
	case <-ctx.Done():
	}
	t := time.NewTimer(callproc.Grace)
	defer t.Stop()
	select {
	case a := <-answered:
		return a
	case <-t.C:
		return nil
	}
}

// descendants finds what is below this process, which is a subreaper: nothing, if it has no child.
func descendants() []int {
	if !proc.HasChildren() {
		return nil
	}
	return proc.Descendants(os.Getpid())
}

// endDescendants ends what the function started: with SIGTERM first, or at once.
func endDescendants(atOnce bool) {
	grace := callproc.Kill
	if atOnce {
		grace = 0
	}
	proc.End(context.Background(), descendants, grace)
}

// answer is a response and its output.
type answer struct {
	resp   wire.Response
	output any
	has    bool
}

func (a *answer) refuse(outcome wire.Outcome, format string, args ...any) {
	a.resp = wire.Response{Outcome: outcome, Message: wire.Text(fmt.Sprintf(format, args...))}
}

// invoke runs the function, whatever it does, and fills in a.
func invoke(ctx context.Context, req *wire.Request, input []byte, a *answer) {
	ended := false
	defer func() {
		p := recover()
		switch {
		case p != nil:
			a.panicked(p, debug.Stack())
		case !ended:
			a.resp = wire.Response{Outcome: wire.Panicked, Value: "the function called runtime.Goexit"}
		}
	}()
	a.call(ctx, req, input)
	ended = true
}

// call runs the function.
func (a *answer) call(ctx context.Context, req *wire.Request, input []byte) {
	if req.Version != wire.Version {
		a.refuse(wire.Incompatible, "the runner speaks version %d of the protocol, the host version %d", wire.Version, req.Version)
		return
	}
	fn, ok := registry.Lookup(req.Function)
	if !ok {
		a.refuse(wire.Unknown, "the runner has no function %s", req.Function)
		return
	}
	if req.Fingerprint != "" && fn.Fingerprint != req.Fingerprint {
		a.refuse(wire.Skew, "in the runner %s has the types %s and %s", req.Function, fn.In, fn.Out)
		return
	}
	run, err := fn.Prepare(input)
	if err != nil {
		a.refuse(wire.BadInput, "%v", err)
		if e, ok := errors.AsType[*codec.Error](err); ok {
			a.resp.Field, a.resp.Message = e.Field, wire.Text(e.Reason)
		}
		return
	}
	output, err := run(ctx)
	if err != nil {
		a.resp = wire.Response{Outcome: wire.Failed, Error: errchain.Encode(err)}
		return
	}
	a.resp, a.output, a.has = wire.Response{Outcome: wire.OK}, output, true
}

func (a *answer) panicked(p any, stack []byte) {
	a.resp = wire.Response{Outcome: wire.Panicked, Stack: wire.Cut(string(stack), wire.ChunkSize)}
	if err, ok := p.(error); ok {
		a.resp.Error = errchain.Encode(err)
	}
	a.resp.Value = wire.Cut(fmt.Sprint(p), wire.ChunkSize)
}

// send encodes the output and sends the response.
func (a *answer) send(w *wire.Writer, id string, req *wire.Request) error {
	spill := codec.Spill{Limit: wire.InlineMax, Create: func() (*os.File, error) { return createOut(req.OutFile) }}
	if req.OutFile == "" {
		spill.Limit = int(^uint(0) >> 1)
	}
	if a.has && !a.encode(&spill) {
		if f := spill.File(); f != nil {
			f.Close()
			os.Remove(f.Name())
		}
		spill = codec.Spill{}
	}
	a.resp.Version, a.resp.Size = wire.Version, spill.Size()
	if f := spill.File(); f != nil {
		if err := publish(f, req.OutFile); err != nil {
			return err
		}
		a.resp.InFile = true
	}
	fit(&a.resp)
	if err := w.Message(wire.KindResult, id, a.resp); err != nil {
		return err
	}
	return w.Data(wire.KindData, id, spill.Bytes())
}

// encode encodes the output, which may run methods of the user's. false means that it can't be;
// the response then says so.
func (a *answer) encode(spill *codec.Spill) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			a.panicked(p, debug.Stack())
			ok = false
		}
	}()
	err := codec.Encode(spill, a.output)
	a.output = nil
	if err == nil {
		return true
	}
	a.refuse(wire.BadOutput, "%v", err)
	if e, ok := errors.AsType[*codec.Error](err); ok {
		a.resp.Field, a.resp.Message = e.Field, wire.Text(e.Reason)
	}
	return false
}

// fit cuts a response's texts until it is a frame.
func fit(r *wire.Response) {
	for limit := wire.ChunkSize; limit > 64; limit /= 4 {
		if b, err := json.Marshal(r); err == nil && len(b) <= wire.MaxBody {
			return
		}
		for _, text := range []*wire.Text{&r.Message, &r.Stack, &r.Value} {
			*text = wire.Cut(string(*text), limit)
		}
	}
}

// createOut makes the file that a result is written to before it gets its name.
func createOut(name string) (*os.File, error) {
	const flags = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	f, err := os.OpenFile(name+".tmp", flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		f, err = os.OpenFile(name+".tmp", flags, 0o600)
	}
	return f, err
}

// publish gives a complete result its name, so that none is ever seen half written.
func publish(f *os.File, name string) error {
	return errors.Join(f.Close(), os.Rename(f.Name(), name))
}

// openFD opens one of the descriptors that the parent passed on; the function's children do not
// inherit it.
func openFD(fd uintptr) io.ReadWriteCloser {
	closeOnExec(fd)
	return os.NewFile(fd, "remote-box")
}
