package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/client"
	"github.com/remote-box/remote/internal/rand"
	"github.com/remote-box/remote/internal/registry"
)

// Session is a sandbox that several calls share: files, and processes left running, last from
// call to call. Calls made with a context of [Session.Context] run in it, and its backend wins
// over theirs. Its methods may be called at once, in any order.
//
// Inside a sandbox calls run in place, and sessions do nothing.
type Session struct {
	backend Backend
	id      string
	slots   chan struct{} // one for each call that may run at once
	life    chan struct{} // held by whoever starts, pauses, resumes or closes
	dialing chan struct{} // held by whoever connects to the supervisor
	closing context.Context
	close   context.CancelCauseFunc

	mu     sync.Mutex
	state  sessionState
	sb     driver.Sandbox
	conn   *client.Conn
	met    bool          // there has been a connection
	gone   error         // why the sandbox is gone, once it is
	active int           // calls under way
	idle   chan struct{} // closed when active drops to 0; nil if nobody waits
}

type sessionState int

const (
	stateNew sessionState = iota
	stateRunning
	statePaused
	stateClosed
)

// SessionOption sets something about a session.
type SessionOption func(*sessionSettings)

type sessionSettings struct {
	concurrency int
}

// Concurrency lets n calls of a session run at once; others wait. The default is 1.
func Concurrency(n int) SessionOption {
	if n < 1 {
		panic(fmt.Sprintf("remote.Concurrency: %d is not positive", n))
	}
	return func(s *sessionSettings) { s.concurrency = n }
}

// NewSession returns a session on b whose sandbox is made by Start or the first call. Its owner
// calls Close.
func NewSession(b Backend, opts ...SessionOption) *Session {
	if b == nil {
		panic("remote.NewSession: the backend is nil")
	}
	settings := sessionSettings{concurrency: 1}
	for _, o := range opts {
		o(&settings)
	}
	s := &Session{
		backend: b,
		id:      rand.Text(16),
		slots:   make(chan struct{}, settings.concurrency),
		life:    make(chan struct{}, 1),
		dialing: make(chan struct{}, 1),
	}
	s.closing, s.close = context.WithCancelCause(context.Background())
	return s
}

// WithSession calls f with a context whose calls share one sandbox on b. The sandbox is made by
// the first of them and destroyed when f returns or panics.
func WithSession(ctx context.Context, b Backend, f func(context.Context) error, opts ...SessionOption) (err error) {
	s := NewSession(b, opts...)
	defer func() {
		err = errors.Join(err, s.Close(ctx))
	}()
	return f(s.Context(ctx))
}

// Resume returns a session in the sandbox that ref describes, resuming it if it is paused. b is
// the backend that the ref was made with, supplied again because a ref holds no secrets. If the
// sandbox no longer exists, the error satisfies errors.Is(err, ErrSandboxGone).
func Resume(ctx context.Context, ref SessionRef, b Backend, opts ...SessionOption) (*Session, error) {
	s := NewSession(b, opts...)
	if ref.Backend != b.Name() {
		return nil, fmt.Errorf("remote.Resume: the ref is of a %q sandbox, the backend is %q", ref.Backend, b.Name())
	}
	if registry.InSandbox() {
		return s, nil
	}
	p := programOf(nil)
	if p == nil {
		return nil, errNoFunctions
	}
	sb, err := b.Attach(ctx, ref.Sandbox, driver.Spec{Program: p, Image: ref.Image, Labels: labels(s.id)})
	if err != nil {
		return nil, fmt.Errorf("resuming the session: %w", err)
	}
	s.sb, s.state = sb, stateRunning
	return s, nil
}

var errNoFunctions = errors.New("the program registers no function that a session could call")

type sessionKey struct{}

// Context returns a context with which calls run in s.
func (s *Session) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// sessionFrom is the session of calls made with ctx, or nil.
func sessionFrom(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}

// PauseSemantics is what lasts when the session is paused.
func (s *Session) PauseSemantics() PauseSemantics { return PauseSemanticsOf(s.backend) }

// Start makes the sandbox, unless there is one. However often and from wherever it is called, one
// sandbox is made.
func (s *Session) Start(ctx context.Context) error {
	if registry.InSandbox() {
		return nil
	}
	return s.exclusively(ctx, func(ctx context.Context) error { return s.ready(ctx, nil) })
}

// Ref returns what finds the session's sandbox again. It is an error if there is none yet.
func (s *Session) Ref() (SessionRef, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state == stateClosed:
		return SessionRef{}, ErrSessionClosed
	case s.sb == nil:
		return SessionRef{}, errors.New("the session has no sandbox yet: call Start first")
	}
	return SessionRef{Backend: s.backend.Name(), Sandbox: s.sb.ID(), Image: imageOf(s.sb)}, nil
}

// Pause waits for the calls under way and pauses the sandbox; what lasts is told by
// [Session.PauseSemantics]. The next call resumes it, as does [Resume] in any process. A session
// that has no sandbox yet gets one.
func (s *Session) Pause(ctx context.Context) (SessionRef, error) {
	if registry.InSandbox() {
		return SessionRef{}, fmt.Errorf("pausing a session inside a sandbox: %w", errors.ErrUnsupported)
	}
	err := s.exclusively(ctx, func(ctx context.Context) error {
		if s.current() == statePaused {
			return nil
		}
		if err := s.sandbox(ctx, nil); err != nil {
			return err
		}
		if err := s.waitIdle(ctx); err != nil {
			return err
		}
		s.detach(ctx)
		if p, ok := s.sb.(driver.Pauser); ok {
			if err := p.Pause(ctx); err != nil {
				return s.noteGone(fmt.Errorf("pausing the session: %w", err))
			}
		}
		s.set(statePaused)
		return nil
	})
	if err != nil {
		return SessionRef{}, err
	}
	return s.Ref()
}

// Close ends the calls under way, whose errors satisfy errors.Is(err, ErrSessionClosed), and
// destroys the sandbox, also if ctx has ended: that may take some seconds more. After an error it
// may be called again; once it has succeeded it does nothing.
func (s *Session) Close(ctx context.Context) error {
	s.close(ErrSessionClosed)
	if registry.InSandbox() {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	s.life <- struct{}{} // whoever holds it has been told to end
	defer func() { <-s.life }()
	if s.current() == stateClosed {
		return nil
	}
	if err := s.waitIdle(ctx); err != nil {
		return err
	}
	s.disconnect(ctx)
	if s.sb != nil {
		if err := closeSandbox(ctx, s.sb); err != nil {
			return fmt.Errorf("closing the session: %w", err)
		}
	}
	s.set(stateClosed)
	return nil
}
