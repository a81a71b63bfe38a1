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

// readTime is how long the last frames of a supervisor that has ended may take.
const readTime = time.Second

// Conn is a connection to the supervisor of a sandbox. Its methods may be called at once.
type Conn struct {
	sb     driver.Streamer
	nonce  string
	w      *wire.Writer
	stdin  *os.File // the supervisor's, our end
	out    *os.File // its output
	stray  *head    // what it printed outside of frames
	stderr *tail
	kill   context.CancelFunc
	exited chan struct{} // closed when the supervisor has ended and err is set
	read   chan struct{} // closed when no more frames come
	done   chan struct{} // closed after both

	mu       sync.Mutex
	pending  map[string]*pending
	instance string // of a supervisor that outlives this connection, or ""
	err      error  // why there will be no more frames
	execErr  error  // Exec's, once it has returned
	status   driver.Status
}

// pending is a call that waits for frames.
type pending struct {
	frames chan wire.Frame
	gone   chan struct{} // closed when nobody waits any more
}

// Dial starts the supervisor of a sandbox. It runs until Close, or until the sandbox ends. The error
// is *Unreached if the sandbox did not start it.
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
		sb: sb, nonce: nonce, w: wire.NewWriter(inW, nonce), stdin: inW, out: outR,
		stray: &head{}, stderr: &tail{}, kill: kill, pending: map[string]*pending{},
		exited: make(chan struct{}), read: make(chan struct{}), done: make(chan struct{}),
	}
	env := []string{callproc.EnvMode + "=" + callproc.ModeServe, callproc.EnvNonce + "=" + nonce}
	if local, ok := sb.(driver.Local); ok {
		env = append(env, callproc.EnvState+"="+local.StateDir(), callproc.EnvShared+"=1")
	}
	hello := make(chan error, 1)
	go c.receive(hello)
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
		c.stop()
		<-c.done
		return nil, err
	}
	return c, nil
}

// stop ends the connection without asking anybody. The pipes are closed too: an Exec that copies
// what its process prints could else not end while nobody reads.
func (c *Conn) stop() {
	c.kill()
	c.stdin.Close()
	c.out.Close()
}

// raw is what the supervisor printed that is no frame.
func (c *Conn) raw() []byte { return append(c.stray.bytes(), c.stderr.bytes()...) }

// receive passes frames on to the calls that they belong to, until the supervisor's output ends.
func (c *Conn) receive(hello chan<- error) {
	defer close(c.read)
	defer c.out.Close()
	r := wire.NewReader(c.out, c.nonce, c.stray)
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
				<-c.exited // for the reason why there is no hello
				err = c.noHello(err)
			}
			select {
			case hello <- err:
			default:
			}
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instance = h.Instance
	return nil
}

// noHello is why a runner ended without a hello.
func (c *Conn) noHello(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.execErr, driver.ErrSandboxGone) {
		return c.execErr
	}
	raw := c.raw()
	reason := "it ended without a hello"
	if frame, ok := errors.AsType[*wire.FrameError](err); ok {
		reason = frame.Reason
	} else if c.execErr != nil {
		if len(raw) == 0 {
			return &Unreached{Err: c.execErr}
		}
		reason += ": " + c.execErr.Error()
	}
	return &NotRunner{Reason: reason, Raw: raw, Status: c.status}
}

// VersionError says that the runner speaks another version of the protocol.
type VersionError = wire.VersionError

// fail ends the connection: a supervisor whose output can't be understood is killed.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	over := err == io.EOF || err == io.ErrUnexpectedEOF // how it ended tells more than that it did
	if c.err == nil && !over {
		c.err = &Lost{Err: err}
	}
	c.mu.Unlock()
	if !over {
		c.stop()
	}
}

// ended records how the supervisor ended and gives up all calls.
func (c *Conn) ended(st driver.Status, err error) {
	c.mu.Lock()
	c.status, c.execErr = st, err
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
	close(c.exited)
	// What it has sent is still to be read. Something that it left running may hold its output
	// open, and a slow writer may hold up the reader.
	t := time.NewTimer(readTime)
	defer t.Stop()
	select {
	case <-c.read:
	case <-t.C:
	}
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
	c.stop()
	<-c.done
}
