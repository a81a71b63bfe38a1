//go:build !remotebox_runner

package e2btest

import (
	"log/slog"
	"time"
)

// Config says how a server behaves. The zero value is a server on the loopback
// interface with the limits of E2B's free plan.
type Config struct {
	// Host is the address to listen on; default 127.0.0.1. The server runs
	// commands for whoever has the key: another address is at your own risk.
	Host string
	// Key is the API key; default a new one.
	Key string
	// Dir holds the files of sandboxes; default a new temporary directory. It must
	// not be on an overlay file system (a container's own) for full isolation.
	Dir string

	// OldServer makes the server behave as those before POST /v2/sandboxes.
	OldServer bool
	// Unconfined runs sandboxes in plain directories even where more is possible.
	Unconfined bool
	// PrivateNetwork gives each sandbox a loopback interface of its own and no
	// other network. Otherwise all of them share the host's, ports included.
	PrivateNetwork bool

	MaxSandboxes int           // running at a time; default 20, negative: no limit
	MaxBuilds    int           // running at a time; default 20, negative: no limit
	MaxTimeout   time.Duration // longest continuous run; default 1 hour
	// CreateRate limits creations in each second. Default: no limit.
	CreateRate int

	// DefaultReadyCommand is waited for when a template has a start command only;
	// default "sleep 20", as in E2B.
	DefaultReadyCommand string
	// Latency is added to every request before it is handled.
	Latency time.Duration
	// Logger hears of sandboxes and builds; default: nobody.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Host == "" {
		c.Host = "127.0.0.1"
	}
	if c.Key == "" {
		c.Key = "e2b_" + randomHex(20)
	}
	if c.MaxSandboxes == 0 {
		c.MaxSandboxes = 20
	}
	if c.MaxBuilds == 0 {
		c.MaxBuilds = 20
	}
	if c.MaxTimeout == 0 {
		c.MaxTimeout = time.Hour
	}
	if c.DefaultReadyCommand == "" {
		c.DefaultReadyCommand = "sleep 20"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}
