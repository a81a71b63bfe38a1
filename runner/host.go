//go:build !remotebox_runner

package runner

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/remote-box/remote/internal/hostmode"
	"github.com/remote-box/remote/internal/registry"
)

// serveHost answers the remote-box command if this program was started by it, and then never
// returns. It is no runner then: calls that it makes go to their backends.
func serveHost() {
	file := take(hostmode.Variable)
	if file == "" {
		return
	}
	req, rep, err := hostmode.ReadRequest(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box:", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	rep.Report(&hostmode.Event{Kind: hostmode.Started, Version: hostmode.Version})
	for _, f := range registry.All() {
		if f.ServeHost != nil {
			f.ServeHost(ctx, req, rep)
			break
		}
	}
	stop()
	rep.Report(&hostmode.Event{Kind: hostmode.Ended})
	os.Exit(0)
}
