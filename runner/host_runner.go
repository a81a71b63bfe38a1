//go:build remotebox_runner

package runner

// serveHost does nothing: a runner has no backends.
func serveHost() {}
