package runner

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

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
	keep   int // how much is kept of each stream of a call's output
	line   *line
	reaper *reaper

	mu    sync.Mutex
	calls map[string]*call
	// seen are the ids of calls that were accepted, where no other process can be asked for them:
	// the host has this one's input and output. nil means that they are claimed by files.
	seen   map[string]bool
	unsent map[string]bool // ids of calls that never had all of their input
	wg     sync.WaitGroup
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
	w := wire.NewWriter(frames, nonce)
	s := &supervisor{
		state: st, nonce: nonce, shared: shared, line: newLine(w),
		calls: map[string]*call{}, reaper: newReaper(), seen: map[string]bool{},
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	eof := make(chan struct{})
	go func() {
		defer close(eof)
		if w.Hello(wire.Hello{Version: wire.Version, PID: os.Getpid()}) == nil {
			s.read(os.Stdin, nonce)
		}
	}()
	select {
	case <-eof:
	case <-terminated:
	}
	s.shutdown()
	return 0
}

// read handles the host's frames until there are no more, or until it says that it quits.
func (s *supervisor) read(in io.Reader, nonce string) (quit bool) {
	r := wire.NewReader(in, nonce, nil)
	for {
		f, err := r.Next()
		if err != nil || f.Kind == wire.KindQuit {
			return err == nil
		}
		switch f.Kind {
		case wire.KindCall:
			s.begin(&f)
		case wire.KindData:
			s.data(&f)
		case wire.KindCancel:
			s.cancel(f.Call)
		case wire.KindQuery:
			id, has := f.Call, wire.Query{}
			if len(f.Body) > 0 && f.Decode(&has) != nil {
				continue // it will ask again
			}
			to, turn := s.line.now()
			s.wg.Go(func() { s.query(id, has, to, turn) })
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
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.wg.Wait()
	}()
	t := time.NewTimer(farewell)
	defer t.Stop()
	select {
	case <-ended:
		s.reaper.close()
	case <-t.C: // its host does not read
	}
	endDescendants(true)
}

// farewell is how long the last frames may take when everything has ended.
const farewell = 2 * time.Second
