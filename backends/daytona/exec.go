//go:build !remotebox_runner

package daytona

import (
	"context"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/rand"
)

// Exec implements driver.Sandbox. Daytona has no faithful way for stdin: it is sent as a file
// beforehand.
func (s *sandbox) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	if err := ctx.Err(); err != nil {
		return driver.Status{}, err
	}
	stdin := ""
	if cmd.Stdin != nil {
		stdin = stdinDir + rand.Text(20)
		if err := s.WriteFile(ctx, stdin, cmd.Stdin); err != nil {
			return driver.Status{}, err
		}
	}
	r, err := s.launch(ctx, cmd, stdin)
	if err != nil {
		if ctx.Err() != nil {
			return driver.Status{}, ctx.Err()
		}
		return driver.Status{}, err
	}
	st, err := r.wait(ctx, cmd)
	if err == nil {
		s.explainMissing(ctx, cmd, st)
	}
	return st, err
}

// stdinDir is where the input of commands waits for them.
const stdinDir = "/tmp/.remote-box-stdin/"

// launch begins a command, with the file stdin as its input if it is not empty. What has certainly not begun is begun again once the sandbox runs:
// somebody may have stopped it.
func (s *sandbox) launch(ctx context.Context, cmd *driver.Command, stdin string) (*run, error) {
	for try := 0; ; try++ {
		w, err := s.worker(ctx)
		if err != nil {
			return nil, s.explain(ctx, err)
		}
		doubt := w.doubtful()
		s.pulse.enter()
		tag, log, ran, err := w.send(ctx, func(tag string) string { return s.script(cmd, stdin, tag) })
		if err == nil {
			exact := cmd.Args[0] != driver.RunnerArg
			return &run{w: w, tag: tag, log: log, demux: newDemux(cmd.Stdout, cmd.Stderr, tag, exact, w.loop != ""), doubt: doubt}, nil
		}
		s.pulse.leave()
		if ctx.Err() != nil {
			if ran {
				s.kill(ctx, cmd, tag)
			}
			s.retire(w, true)
			return nil, ctx.Err()
		}
		s.retire(w, false)
		if ran || try == 2 || !restartable(err) {
			return nil, s.explain(ctx, err)
		}
		if err := s.revive(ctx); err != nil {
			return nil, err
		}
	}
}

// restartable reports whether a command that was refused may be accepted by a sandbox that has been
// looked after: the sandbox, or the session, was not there.
func restartable(err error) bool {
	return deaf(err) || says(err, 404) || says(err, 410) || says(err, 400)
}

// worker returns a worker for a command: an idle one, or a new one.
func (s *sandbox) worker(ctx context.Context) (*worker, error) {
	if w := s.take(); w != nil {
		return w, nil
	}
	w, err := s.newWorker(ctx)
	if err == nil || ctx.Err() != nil || !deaf(err) {
		return w, err
	}
	if err := s.revive(ctx); err != nil {
		return nil, err
	}
	if w := s.take(); w != nil {
		return w, nil
	}
	return s.newWorker(ctx)
}

// revive sees to it that the sandbox runs and answers. Of several that want it one does it.
func (s *sandbox) revive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.backend.createTimeout())
	defer cancel()
	if err := s.seize(ctx); err != nil {
		return err
	}
	defer s.yield()
	return s.bringUp(ctx, nil, false)
}
