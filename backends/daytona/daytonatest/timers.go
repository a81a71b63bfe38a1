//go:build !remotebox_runner

package daytonatest

import "time"

// timers does what the service does every ten seconds: it stops, pauses, archives and deletes what is due.
func (s *Server) timers() {
	tick := time.NewTicker(s.cfg.Minute / 6)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			s.mu.Lock()
			for _, sb := range append([]*sandbox(nil), s.sandboxes...) {
				s.due(sb, now)
			}
			s.mu.Unlock()
		}
	}
}

// due applies the timers to one sandbox. s.mu is held.
func (s *Server) due(sb *sandbox, now time.Time) {
	if sb.busy || sb.state == "destroyed" {
		return
	}
	if sb.open > 0 {
		sb.lastActivity = now // the proxy says so every 50 s while a request is open
	}
	passed := func(since time.Time, minutes int) bool {
		return minutes > 0 && now.Sub(since) >= time.Duration(minutes)*s.cfg.Minute
	}
	switch {
	case passed(sb.created, sb.ttl):
		s.destroy(sb)
	case sb.state == "started" && passed(sb.lastActivity, sb.autoStop):
		_ = s.stop(sb, false)
	case sb.state == "started" && passed(sb.lastActivity, sb.autoPause):
		_ = s.pause(sb)
	case sb.state == "stopped" && passed(sb.stoppedAt, sb.autoDel):
		s.destroy(sb)
	case sb.state == "stopped" && passed(sb.stoppedAt, sb.autoArchive):
		_ = s.archive(sb)
	}
}
