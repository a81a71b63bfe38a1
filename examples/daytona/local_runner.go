//go:build remotebox_runner

package main

import "github.com/remote-box/remote"

// local is for the host only: a runner makes no sandboxes.
func local() (remote.Backend, func()) { return nil, nil }
