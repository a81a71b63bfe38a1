//go:build !remotebox_runner

package daytonatest

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// change takes sb through a state on the way to another one; work happens meanwhile, and the change takes at least
// as long as it says. s.mu is held.
func (s *Server) change(sb *sandbox, via, to string, took time.Duration, work func() error) {
	sb.state, sb.busy, sb.updated = via, true, time.Now()
	s.notify()
	s.cfg.Logf("sandbox %s: %s", sb.id, via)
	s.tasks.Go(func() {
		start := time.Now()
		err := work()
		if err == nil {
			err = s.sleep(took - time.Since(start))
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		sb.busy, sb.updated = false, time.Now()
		if err != nil {
			sb.state, sb.reason = "error", err.Error()
		} else {
			sb.state = to
		}
		if to == "destroyed" {
			s.sandboxes = slices.DeleteFunc(s.sandboxes, func(x *sandbox) bool { return x == sb })
		}
		s.notify()
		s.cfg.Logf("sandbox %s: %s %s", sb.id, sb.state, sb.reason)
	})
}

// boot makes sb's machine and starts its entrypoint.
func (s *Server) boot(sb *sandbox) error {
	spec := s.spec(sb)
	m, err := s.system.machine(spec)
	if err != nil {
		return err
	}
	d, err := s.newDaemon(sb, m, spec)
	if err != nil {
		m.kill()
		return err
	}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		sb.machine, sb.daemon = m, d
		sb.lastActivity = time.Now()
	}
	s.mu.Unlock()
	if closed { // Close has killed the machines that it saw; this one it did not see
		m.kill()
		return errClosed
	}
	return d.startEntrypoint()
}

// halt ends sb's processes: at once, or after they had time to end themselves.
func (s *Server) halt(sb *sandbox, grace time.Duration) {
	s.mu.Lock()
	m, d := sb.machine, sb.daemon
	s.mu.Unlock()
	if m == nil {
		return
	}
	if grace > 0 {
		thaw(m)
		signalAll(m, syscall.SIGTERM)
		// Process 1 stays, so one process left is none.
		for end := time.Now().Add(grace); time.Now().Before(end) && d.running(); {
			if s.sleep(5*time.Millisecond) != nil {
				break
			}
		}
	}
	m.kill()
	d.close()
	s.mu.Lock()
	sb.machine, sb.daemon = nil, nil
	s.mu.Unlock()
}

func errored(sb *sandbox) error {
	if sb.state == "error" || sb.state == "build_failed" {
		return fail(400, "Sandbox is in an errored state")
	}
	if sb.busy {
		return fail(409, "Sandbox state change in progress")
	}
	return nil
}

// start starts, resumes or restores. s.mu is held.
func (s *Server) start(sb *sandbox) error {
	if sb.state == "started" {
		return nil
	}
	if err := errored(sb); err != nil {
		return err
	}
	sb.desired = "started"
	boot := func() error { return s.boot(sb) }
	switch sb.state {
	case "stopped":
		if err := s.fits(sb, nil); err != nil {
			return err
		}
		s.change(sb, "starting", "started", s.cfg.Times.Start, boot)
	case "archived":
		if err := s.fits(sb, nil); err != nil {
			return err
		}
		s.change(sb, "restoring", "started", s.cfg.Times.Restore, boot)
	case "paused":
		s.change(sb, "resuming", "started", s.cfg.Times.Resume, func() error {
			s.mu.Lock()
			m := sb.machine
			sb.lastActivity = time.Now()
			s.mu.Unlock()
			if m != nil {
				thaw(m)
			}
			return nil
		})
	default:
		return fail(400, "Sandbox is not in valid state")
	}
	return nil
}

// stop stops; an ephemeral sandbox is destroyed by it. s.mu is held.
func (s *Server) stop(sb *sandbox, force bool) error {
	if err := errored(sb); err != nil {
		return err
	}
	if sb.state != "started" && sb.state != "paused" {
		return fail(400, "Sandbox is not in a stoppable state. State: %s", sb.state)
	}
	if sb.autoDel == 0 {
		s.destroy(sb)
		return nil
	}
	grace := s.cfg.Times.StopGrace
	if force {
		grace = 0
	}
	sb.desired = "stopped"
	s.change(sb, "stopping", "stopped", s.cfg.Times.Stop, func() error {
		s.halt(sb, grace)
		s.mu.Lock()
		sb.stoppedAt = time.Now()
		s.mu.Unlock()
		return nil
	})
	return nil
}

// pause freezes a virtual machine. s.mu is held.
func (s *Server) pause(sb *sandbox) error {
	if sb.class != classVM {
		return fail(422, "Pausing is not supported for this sandbox")
	}
	if err := errored(sb); err != nil {
		return err
	}
	if sb.state != "started" {
		return fail(400, "Sandbox is not started")
	}
	sb.desired = "paused"
	s.change(sb, "pausing", "paused", s.cfg.Times.Pause, func() error {
		s.mu.Lock()
		m := sb.machine
		sb.stoppedAt = time.Now()
		s.mu.Unlock()
		if m == nil {
			return errMachineGone
		}
		return freeze(m)
	})
	return nil
}

// archive moves a stopped sandbox's disk to where it costs no quota. s.mu is held.
func (s *Server) archive(sb *sandbox) error {
	if err := errored(sb); err != nil {
		return err
	}
	if sb.state != "stopped" {
		return fail(400, "Sandbox is not stopped")
	}
	if sb.autoDel == 0 {
		return fail(400, "Ephemeral sandboxes cannot be archived")
	}
	sb.desired, sb.backup = "archived", "InProgress"
	s.change(sb, "archiving", "archived", s.cfg.Times.Archive, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		sb.backup = "Completed"
		return nil
	})
	return nil
}

// recover brings a sandbox in error back to stopped. s.mu is held.
func (s *Server) recover(sb *sandbox, skipStart bool) error {
	if sb.state != "error" || !sb.recoverable {
		return fail(400, "Sandbox is not in a recoverable state")
	}
	sb.reason, sb.recoverable, sb.state = "", false, "stopped"
	s.notify()
	if skipStart {
		return nil
	}
	return s.start(sb)
}

// destroy ends sb whatever it does. s.mu is held.
func (s *Server) destroy(sb *sandbox) {
	sb.desired = "destroyed"
	s.change(sb, "destroying", "destroyed", s.cfg.Times.Destroy, func() error {
		s.halt(sb, 0)
		if err := os.RemoveAll(s.diskOf(sb)); err != nil {
			return fmt.Errorf("removing the disk: %w", err)
		}
		return nil
	})
}
