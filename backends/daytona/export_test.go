package daytona

import "time"

// Direct makes every call a command of its own.
func Direct(b Backend) Backend {
	b.direct = true
	return b
}

// Beating says how often long calls say that they are alive.
func Beating(b Backend, every time.Duration) Backend {
	b.beat = every
	return b
}

// Idling says how long a connection may be idle until it is doubted.
func Idling(b Backend, d time.Duration) Backend {
	b.doubt = d
	return b
}

// BaseName names the snapshot of the base of sandboxes of class LinuxVM.
func BaseName(b Backend) string { return b.baseName() }
