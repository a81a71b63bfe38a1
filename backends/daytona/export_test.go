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
