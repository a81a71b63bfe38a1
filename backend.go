package remote

import "github.com/remote-box/remote/driver"

// Backend is somewhere that sandboxes run: the Backend types of the packages below backends, or
// one of your own, for which see package driver.
type Backend = driver.Backend

// Build chooses how a backend's runners are compiled; it is a field of backend values.
type Build = driver.Build

// PauseSemantics is what lasts when a session is paused.
type PauseSemantics = driver.PauseSemantics

// What lasts when a session is paused.
const (
	PauseNone    = driver.PauseNone    // nothing for certain: processes end, and files last as long as the sandbox, which nobody keeps
	PauseStop    = driver.PauseStop    // files, which are kept; processes end
	PauseSuspend = driver.PauseSuspend // memory and files; processes go on where they were
)

// PauseSemanticsOf is what a backend's pause keeps. It is known from the value alone.
func PauseSemanticsOf(b Backend) PauseSemantics {
	if p, ok := b.(driver.Pausable); ok {
		return p.PauseSemantics()
	}
	return PauseNone
}
