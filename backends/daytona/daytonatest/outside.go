//go:build !remotebox_runner

package daytonatest

import "time"

// What follows happens to sandboxes from outside, as when an administrator, a timer or a broken host does it. The
// methods take an identifier or a name and return once it has happened.

// StopSandbox stops a sandbox.
func (s *Server) StopSandbox(idOrName string) error {
	return s.outside(idOrName, func(sb *sandbox) error { return s.stop(sb, true) }, "stopped")
}

// PauseSandbox pauses a sandbox of class linux-vm.
func (s *Server) PauseSandbox(idOrName string) error { return s.outside(idOrName, s.pause, "paused") }

// DeleteSandbox deletes a sandbox.
func (s *Server) DeleteSandbox(idOrName string) error {
	return s.outside(idOrName, func(sb *sandbox) error {
		if sb.state != "destroying" {
			s.destroy(sb)
		}
		return nil
	}, "destroyed")
}

// KillSandbox kills everything in a sandbox without the control plane's taking notice: it goes on to say "started", while the
// toolbox answers 400.
func (s *Server) KillSandbox(idOrName string) error {
	s.mu.Lock()
	sb, err := s.find(idOrName)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	m := sb.machine
	s.mu.Unlock()
	if m != nil {
		m.kill()
	}
	return nil
}

// FailSandbox puts a sandbox into state error. With no reason given, errorReason stays null.
func (s *Server) FailSandbox(idOrName, reason string, recoverable bool) error {
	if err := s.KillSandbox(idOrName); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sb, err := s.find(idOrName)
	if err != nil {
		return err
	}
	sb.state, sb.reason, sb.recoverable = "error", reason, recoverable
	sb.machine, sb.daemon = nil, nil
	s.notify()
	return nil
}

// DeactivateSnapshot makes a snapshot inactive, as two weeks without use do.
func (s *Server) DeactivateSnapshot(idOrName string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sn, err := s.findSnapshot(idOrName)
	if err != nil {
		return err
	}
	sn.state = "inactive"
	s.notify()
	return nil
}

func (s *Server) outside(idOrName string, act func(*sandbox) error, state string) error {
	s.mu.Lock()
	sb, err := s.find(idOrName)
	if err == nil {
		err = act(sb)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	final := func() bool { return sb.state == state || sb.state == "destroyed" || sb.state == "error" }
	if !s.await(s.ctx, time.Minute, final) {
		return errClosed
	}
	return nil
}
