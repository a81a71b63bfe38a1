package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/rand"
	"github.com/remote-box/remote/internal/wire"
)

// helloTime is how long a runner may take to say hello: its packages initialise first.
const helloTime = time.Minute

// quitTime is how long a supervisor may take to end everything before it is killed.
const quitTime = 5 * time.Second

// Conn is a connection to the supervisor of a sandbox. Its methods may be called at once.
type Conn struct {
	sb     driver.Streamer
	nonce  string
	w      *wire.Writer
	stdin  *os.File // the supervisor's, our end
	stray  *head    // what it printed outside of frames
	stderr *tail
	kill   context.CancelFunc
	done   chan struct{} // closed when the supervisor has ended and err is set

	mu      sync.Mutex
	pending map[string]*pending
	err     error // why there will be no more frames
	status  driver.Status
}

// pending is a call that waits for frames.
type pending struct {
	frames chan wire.Frame
	gone   chan struct{} // closed when nobody waits any more
}

// Dial starts the supervisor of a sandbox. It runs until Close, or until the sandbox ends.
func Dial(ctx context.Context, sb driver.Streamer) (*Conn, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, err
	}
	nonce := rand.Text(26)
	running, kill := context.WithCancel(context.WithoutCancel(ctx))
	c := &Conn{
		sb: sb, nonce: nonce, w: wire.NewWriter(inW, nonce), stdin: inW,
		stray: &head{}, stderr: &tail{}, kill: kill,
		done: make(chan struct{}), pending: map[string]*pending{},
	}
	env := []string{callproc.EnvMode + "=" + callproc.ModeServe, callproc.EnvNonce + "=" + nonce}
	if local, ok := sb.(driver.Local); ok {
		env = append(env, callproc.EnvState+"="+local.StateDir(), callproc.EnvShared+"=1")
	}
	hello := make(chan error, 1)
	go c.read(outR, hello)
	go func() {
		st, err := sb.Exec(running, &driver.Command{
			Args: []string{driver.RunnerArg}, Env: env,
			Stdin: inR, Stdout: outW, Stderr: c.stderr,
		})
		inR.Close()
		outW.Close()
		c.ended(st, err)
	}()
	t := time.NewTimer(helloTime)
	defer t.Stop()
	select {
	case err = <-hello:
	case <-ctx.Done():
		err = ctx.Err()
	case <-t.C:
		err = &NotRunner{Reason: fmt.Sprintf("no hello after %v", helloTime), Raw: c.raw()}
	}
	if err != nil {
		c.kill()
		c.stdin.Close()
		<-c.done
		return nil, err
	}
	return c, nil
}

// raw is what the supervisor printed that is no frame.
func (c *Conn) raw() []byte { return append(c.stray.bytes(), c.stderr.bytes()...) }

// read passes frames on to the calls that they belong to, until the supervisor's output ends.
func (c *Conn) read(out *os.File, hello chan<- error) {
	defer out.Close()
	r := wire.NewReader(out, c.nonce, c.stray)
	greeted := false
	for {
		f, err := r.Next()
		if err == nil && !greeted {
			greeted = true
			err = c.greet(&f)
			if err == nil {
				hello <- nil
				continue
			}
		}
		if err != nil {
			c.fail(err)
			if !greeted {
				<-c.done // for the reason why there is no hello
				err = c.noHello(err)
			}
			select {
			case hello <- err:
			default:
			}
			io.Copy(io.Discard, out)
			return
		}
		c.mu.Lock()
		p := c.pending[f.Call]
		c.mu.Unlock()
		if p == nil {
			continue // of a call that was given up
		}
		f.Body = append([]byte(nil), f.Body...)
		select {
		case p.frames <- f:
		case <-p.gone:
		}
	}
}

// greet checks a runner's first frame.
func (c *Conn) greet(f *wire.Frame) error {
	var h wire.Hello
	if f.Kind != wire.KindHello || f.Decode(&h) != nil {
		return &NotRunner{Reason: "its first frame is no hello", Raw: c.raw()}
	}
	if h.Version != wire.Version {
		return &VersionError{Runner: h.Version}
	}
	return nil
}

// noHello is why a runner ended without a hello.
func (c *Conn) noHello(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lost, ok := errors.AsType[*Lost](c.err); ok && lost.Err != nil && errors.Is(lost.Err, driver.ErrSandboxGone) {
		return lost.Err
	}
	reason := "it ended without a hello"
	if frame, ok := errors.AsType[*wire.FrameError](err); ok {
		reason = frame.Reason
	} else if lost, ok := errors.AsType[*Lost](c.err); ok && lost.Err != nil {
		reason += ": " + lost.Err.Error()
	}
	return &NotRunner{Reason: reason, Raw: c.raw(), Status: c.status}
}

// VersionError says that the runner speaks another version of the protocol.
type VersionError struct {
	Runner int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the runner speaks version %d of the protocol, this program version %d", e.Runner, wire.Version)
}

// fail ends the connection: a supervisor whose output can't be understood is killed.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	if c.err == nil && err != io.EOF {
		c.err = &Lost{Err: err}
	}
	c.mu.Unlock()
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		c.kill()
	}
}

// ended records how the supervisor ended and gives up all calls.
func (c *Conn) ended(st driver.Status, err error) {
	c.mu.Lock()
	c.status = st
	if c.err == nil {
		switch {
		case err != nil && !errors.Is(err, context.Canceled):
			c.err = &Lost{Err: err}
		case st.Signal != "":
			c.err = &Lost{Err: fmt.Errorf("%w: its supervisor ended with %s", driver.ErrSandboxGone, st.Signal)}
		default:
			c.err = &Lost{Err: fmt.Errorf("%w: its supervisor ended with code %d", driver.ErrSandboxGone, st.Code)}
		}
	}
	c.mu.Unlock()
	close(c.done)
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the connection ended.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close tells the supervisor to end everything in the sandbox, and waits for it; one that does not
// is killed.
func (c *Conn) Close(ctx context.Context) {
	go func() {
		c.w.Frame(wire.KindQuit, wire.NoCall, nil)
		c.stdin.Close()
	}()
	t := time.NewTimer(quitTime)
	defer t.Stop()
	select {
	case <-c.done:
	case <-t.C:
	case <-ctx.Done():
	}
	c.kill()
	c.stdin.Close()
	<-c.done
}
