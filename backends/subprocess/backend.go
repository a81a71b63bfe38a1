// Package subprocess runs functions in processes of this host. It needs no account, key or
// container engine, and it is where functions run that were given no backend.
//
// A sandbox is a private directory, the functions' working directory, and the processes started in
// it; both are gone when it is closed. It keeps functions apart from each other and from the
// program, not attackers from the host: functions run as the user that runs the program.
//
// Linux and macOS are supported fully, but for one thing: on macOS a process that starts a session
// of its own (setsid) and outlives its parent may escape the end of its sandbox.
package subprocess

import "github.com/remote-box/remote/driver"

// Backend makes sandboxes out of processes. The zero value is ready to use.
type Backend struct {
	// Dir is the functions' working directory, an absolute path. When it is empty every sandbox
	// gets a private one. A directory that is given here is never removed.
	Dir string

	// Env is added to the functions' environment, which else is PATH, HOME, USER, LANG, LC_*, TZ
	// and TMPDIR of this program.
	Env map[string]string

	// InheritEnv passes on this program's whole environment, but for the keys of sandbox
	// providers.
	InheritEnv bool

	// Build chooses how the runner is compiled.
	Build driver.Build
}

var _ driver.Pausable = Backend{}

// Name implements driver.Backend.
func (Backend) Name() string { return "subprocess" }

// PauseSemantics implements driver.Pausable. When a session is paused its processes end; its files
// stay in their directory on this host, which is removed after a week.
func (Backend) PauseSemantics() driver.PauseSemantics { return driver.PauseNone }
