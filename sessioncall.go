package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/client"
	"github.com/remote-box/remote/internal/registry"
	"github.com/remote-box/remote/internal/wire"
)

// call makes a call in the session. image is what its sandbox was made from.
func (s *Session) call(ctx context.Context, f *function, c *client.Call) (_ *client.Reply, image string, err error) {
	ctx, stop := s.untilClosed(ctx)
	defer stop()
	defer func() {
		if err != nil && context.Cause(ctx) == ErrSessionClosed {
			err = ErrSessionClosed
		}
	}()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	sb, conn, err := s.enter(ctx, f.Function)
	if err != nil {
		return nil, "", err
	}
	defer s.leave()
	image = imageOf(sb)
	var reply *client.Reply
	if conn != nil {
		if reply, err = conn.Call(ctx, c); err != nil {
			reply, err = conn.Recover(ctx, c, err, s.redial)
		}
	} else {
		reply, err = client.Once(ctx, sb, c)
	}
	if err != nil {
		return reply, image, s.noteGone(err)
	}
	if resp := reply.Response; resp != nil && resp.Outcome == wire.Gone {
		return reply, image, s.noteGone(fmt.Errorf("%w: %s", ErrSandboxGone, resp.Message))
	} else if (resp == nil || resp.Outcome != wire.OK) && context.Cause(ctx) == ErrSessionClosed {
		return reply, image, ErrSessionClosed
	}
	return reply, image, nil
}

// untilClosed returns a context that also ends when the session is closed.
func (s *Session) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.closing, func() { cancel(ErrSessionClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// exclusively runs f while nothing else changes the session's state.
func (s *Session) exclusively(ctx context.Context, f func(context.Context) error) error {
	ctx, stop := s.untilClosed(ctx)
	defer stop()
	select {
	case s.life <- struct{}{}:
	case <-ctx.Done():
		return s.orClosed(ctx, ctx.Err())
	}
	defer func() { <-s.life }()
	if s.closing.Err() != nil {
		return ErrSessionClosed
	}
	return s.orClosed(ctx, f(ctx))
}

// orClosed is err, or ErrSessionClosed if that is why it came.
func (s *Session) orClosed(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == ErrSessionClosed {
		return ErrSessionClosed
	}
	return err
}

// enter gets the session ready for a call of f and counts the call as active.
func (s *Session) enter(ctx context.Context, f *registry.Function) (sb driver.Sandbox, conn *client.Conn, err error) {
	err = s.exclusively(ctx, func(ctx context.Context) error {
		if err := s.ready(ctx, f); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.active++
		sb, conn = s.sb, s.conn
		return nil
	})
	return sb, conn, err
}

// leave counts a call as ended.
func (s *Session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active--
	if s.active == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// waitIdle waits until no call is active. The caller holds life, so that none begins.
func (s *Session) waitIdle(ctx context.Context) error {
	s.mu.Lock()
	if s.active == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	idle := s.idle
	s.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Session) current() sessionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

func (s *Session) set(state sessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

// sandbox makes the sandbox if there is none. f is the function that is about to be called, or nil.
func (s *Session) sandbox(ctx context.Context, f *registry.Function) error {
	if err := s.whyGone(); err != nil {
		return err
	}
	if s.sb != nil {
		return nil
	}
	p := programOf(f)
	if p == nil {
		return errNoFunctions
	}
	sb, err := s.backend.Start(ctx, driver.Spec{Program: p, Labels: labels(s.id)})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sb, s.state = sb, stateRunning
	return nil
}

// ready makes the sandbox run, and connects to it where a stream can be kept. The caller holds
// life.
func (s *Session) ready(ctx context.Context, f *registry.Function) error {
	if err := s.sandbox(ctx, f); err != nil {
		return err
	}
	if s.current() == statePaused {
		if p, ok := s.sb.(driver.Pauser); ok {
			if err := p.Resume(ctx); err != nil {
				return s.noteGone(fmt.Errorf("resuming the session: %w", err))
			}
		}
		s.set(stateRunning)
	}
	streamer, ok := s.sb.(driver.Streamer)
	if !ok {
		return s.whyGone()
	}
	dial := func(ctx context.Context) (*client.Conn, error) { return s.connect(ctx, streamer) }
	if !s.reached() {
		_, err := dial(ctx) // what is wrong now may be wrong for ever
		return err
	}
	_, err := client.Again(ctx, dial)
	return err
}

// reached reports whether the sandbox's supervisor has been connected to before.
func (s *Session) reached() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.met
}

// connect returns the connection to the sandbox's supervisor, making one if there is none.
func (s *Session) connect(ctx context.Context, sb driver.Streamer) (*client.Conn, error) {
	select {
	case s.dialing <- struct{}{}:
		defer func() { <-s.dialing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.connected() {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.conn, s.gone
	}
	conn, err := client.Dial(ctx, sb)
	if err != nil {
		return nil, s.noteGone(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn, s.met = conn, true
	return conn, nil
}

// redial returns a connection other than broken. It is for calls under way, which keep the session
// from being paused or closed.
func (s *Session) redial(ctx context.Context, broken *client.Conn) (*client.Conn, error) {
	select {
	case <-broken.Done():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.connect(ctx, s.sb.(driver.Streamer))
}

// connected reports whether there is a connection, dropping one that has ended.
func (s *Session) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return false
	}
	select {
	case <-s.conn.Done():
		if err := s.conn.Err(); errors.Is(err, ErrSandboxGone) {
			s.gone = err
			return true
		}
		s.conn = nil
		return false
	default:
		return true
	}
}

// detach ends the connection before a pause. A supervisor that outlives it goes on, if the pause
// keeps processes.
func (s *Session) detach(ctx context.Context) {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn == nil || !conn.Resident() || s.PauseSemantics() != PauseSuspend {
		s.disconnect(ctx)
		return
	}
	conn.Detach()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = nil
}

// disconnect ends the connection, and with it the processes that the supervisor owns.
func (s *Session) disconnect(ctx context.Context) {
	s.mu.Lock()
	conn := s.conn
	s.conn = nil
	s.mu.Unlock()
	if conn != nil {
		conn.Close(ctx)
	}
}

// whyGone is why the sandbox is gone, or nil.
func (s *Session) whyGone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// noteGone remembers an error that says that the sandbox is gone, and returns it.
func (s *Session) noteGone(err error) error {
	if errors.Is(err, ErrSandboxGone) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.gone = err
	}
	return err
}
