//go:build !remotebox_runner

package e2btest

import (
	"context"
	"fmt"
	"time"
)

// finalize starts the template's command and waits until it is ready. In E2B the
// memory is saved then; here sandboxes start the command again.
func (w *worker) finalize(ctx context.Context, request buildRequest) error {
	w.step, w.prefix = "finalize", "[finalize] "
	if request.StartCmd != "" {
		w.image.startCmd, w.image.readyCmd = request.StartCmd, request.ReadyCmd
		if w.image.readyCmd == "" {
			w.image.readyCmd = w.build.server.cfg.DefaultReadyCommand
		}
	} else if request.ReadyCmd != "" {
		w.image.readyCmd = request.ReadyCmd
	}
	if w.image.readyCmd == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	ended := make(chan string, 1)
	if w.image.startCmd != "" {
		w.build.log("info", w.step, w.prefix+"Starting command: "+w.image.startCmd)
		go func() {
			status, err := w.shell(ctx, w.image.user, w.image.startCmd)
			if err != nil {
				status = err.Error()
			}
			ended <- status
		}()
		defer func() { cancel(); <-ended }()
	}
	for {
		status, err := w.shell(ctx, w.image.user, w.image.readyCmd)
		switch {
		case err != nil:
			return &stepError{"finalize", "ready command failed: " + err.Error()}
		case status == "":
			w.build.log("info", w.step, w.prefix+"Template is ready")
			return nil
		}
		select {
		case status := <-ended:
			ended <- status
			if status != "" {
				return &stepError{"finalize", fmt.Sprintf("start command '%s' failed: %s", w.image.startCmd, status)}
			}
		default:
		}
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			return &stepError{"finalize", "ready command failed: " + ctx.Err().Error()}
		}
	}
}
