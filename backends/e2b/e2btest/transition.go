//go:build !remotebox_runner

package e2btest

import (
	"net/http"
	"os"
	"time"
)

// pause stops the sandbox and cuts its streams. Without memory the processes are
// gone afterwards.
func (sb *sandbox) pause(memory bool) error {
	sb.mu.Lock()
	switch sb.state {
	case Running:
	case killed:
		sb.mu.Unlock()
		return sandboxNotFound(sb.id)
	case Paused:
		sb.mu.Unlock()
		return fail(http.StatusConflict, "Error pausing sandbox - sandbox '%s' is already paused", sb.id)
	default:
		sb.mu.Unlock()
		return fail(http.StatusConflict, "Error pausing sandbox - sandbox '%s' is transitioning (%s)", sb.id, sb.state)
	}
	sb.become(pausing)
	sb.expiry.Stop()
	m := sb.machine
	sb.mu.Unlock()

	var err error
	if memory {
		err = m.jail.Freeze()
	}
	m.cut()
	if !memory || err != nil {
		m.stop()
		m = nil
	}
	sb.mu.Lock()
	defer sb.mu.Unlock()
	sb.machine = m
	sb.endAt = time.Now()
	sb.log("Sandbox paused")
	sb.become(Paused)
	return err
}

// resume continues a paused sandbox; the caller holds sb.mu and has seen it
// paused. The lock is released meanwhile.
func (sb *sandbox) resume(timeout time.Duration) error {
	sb.become(resuming)
	m := sb.machine
	sb.mu.Unlock()
	var err error
	if m == nil {
		m, err = sb.boot()
	} else if err = m.jail.Thaw(); err == nil {
		m.reconnect()
	}
	sb.mu.Lock()
	if err != nil {
		sb.become(Paused)
		return err
	}
	sb.machine = m
	sb.startedAt = time.Now()
	sb.setTTL(timeout)
	sb.log("Sandbox resumed")
	sb.become(Running)
	return nil
}

// destroy kills the sandbox and removes its files. It reports false if that has
// happened already.
func (sb *sandbox) destroy() bool {
	sb.mu.Lock()
	if sb.settled() == killed {
		sb.mu.Unlock()
		return false
	}
	m := sb.machine
	sb.machine = nil
	if sb.expiry != nil {
		sb.expiry.Stop()
	}
	sb.become(killed)
	sb.mu.Unlock()
	if m != nil {
		m.cut()
		m.stop()
	}
	sb.server.mu.Lock()
	delete(sb.server.sandboxes, sb.id)
	sb.server.mu.Unlock()
	if err := os.RemoveAll(sb.dir); err != nil {
		sb.server.cfg.Logger.Error("files of sandbox left", "id", sb.id, "error", err)
	}
	return true
}

// expire ends a lifetime, unless it was changed meanwhile.
func (sb *sandbox) expire(end time.Time) {
	sb.mu.Lock()
	due := sb.state == Running && sb.endAt.Equal(end)
	sb.mu.Unlock()
	if !due || !sb.server.begin() {
		return
	}
	defer sb.server.work.Done()
	sb.server.cfg.Logger.Info("sandbox expired", "id", sb.id)
	if sb.spec.AutoPause {
		sb.pause(sb.spec.AutoPauseMemory == nil || *sb.spec.AutoPauseMemory)
		return
	}
	sb.destroy()
}
