// Remote-box builds the images that a module's functions run in, and looks after them. Run it with
// `go tool remote-box` or as a binary; `go run` would turn every exit code into 1.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/remote-box/remote/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
