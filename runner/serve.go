package runner

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
	"github.com/remote-box/remote/internal/wire"
)

// supervisor starts a process for every call of a sandbox, and owns all of them: whatever a call
// started is below it, and ends with it.
type supervisor struct {
	state  state
	nonce  string
	shared bool
	w      *wire.Writer
	reaper *reaper

	mu    sync.Mutex
	calls map[string]*call
	wg    sync.WaitGroup
}

// runServe supervises a sandbox until its input ends or it is told to quit.
func runServe() int {
	proc.Subreaper()
	frames, err := takeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	nonce := take(callproc.EnvNonce)
	shared := take(callproc.EnvShared) != ""
	st, err := openState()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: no place for results:", err)
		return 2
	}
	mendEnvironment()
	s := &supervisor{
		state: st, nonce: nonce, shared: shared, w: wire.NewWriter(frames, nonce),
		calls: map[string]*call{}, reaper: newReaper(),
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	eof := make(chan struct{})
	go func() {
		defer close(eof)
		if s.w.Hello(wire.Hello{Version: wire.Version, PID: os.Getpid()}) == nil {
			s.read(os.Stdin)
		}
	}()
	select {
	case <-eof:
	case <-terminated:
	}
	s.shutdown()
	return 0
}

// read handles the host's frames until there are no more.
func (s *supervisor) read(in io.Reader) {
	r := wire.NewReader(in, s.nonce, nil)
	for {
		f, err := r.Next()
		if err != nil || f.Kind == wire.KindQuit {
			return
		}
		switch f.Kind {
		case wire.KindCall:
			s.begin(&f)
		case wire.KindData:
			s.data(&f)
		case wire.KindCancel:
			if c := s.lookup(f.Call); c != nil {
				c.cancel()
			}
		case wire.KindQuery:
			id := f.Call
			s.wg.Go(func() { s.query(id) })
		case wire.KindForget:
			s.forget(f.Call)
		}
	}
}

// shutdown ends every call and every process of the sandbox, and waits for them.
func (s *supervisor) shutdown() {
	s.mu.Lock()
	for _, c := range s.calls {
		c.cancel()
	}
	s.mu.Unlock()
	endDescendants(false)
	s.wg.Wait()
	s.reaper.close()
	endDescendants(true)
}
