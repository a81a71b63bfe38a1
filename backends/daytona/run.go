//go:build !remotebox_runner

package daytona

import (
	"context"
	"errors"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/proc"
)

// run is a command under way.
type run struct {
	w     *worker
	tag   string
	log   *follower
	demux *demux
	doubt bool // the log's connection may have died while nobody listened
}

// errUnfinished says that a command's log ended before the command did.
var errUnfinished = errors.New("the sandbox was stopped, or the command's session ended, before the command did")

// How long a command's last words may take behind its end on the other stream, and how long a
// command that is being killed may take.
const (
	endTime  = 300 * time.Millisecond
	killTime = 15 * time.Second
)

// wait passes on what the command prints until it has ended. When ctx ends it is killed.
func (r *run) wait(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var tending sync.WaitGroup
	defer tending.Wait()
	tended, endTending := context.WithCancel(reading)
	defer endTending()
	done := make(chan error, 1)
	go func() { done <- r.read(reading) }()
	tending.Go(func() { r.tend(tended) })
	if r.doubt {
		tending.Go(func() { r.log.ping(tended, firstPing) })
	}
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		r.w.s.kill(ctx, cmd, r.tag)
		t := time.NewTimer(endTime)
		defer t.Stop()
		select {
		case err = <-done:
		case <-t.C:
			stop()
			err = <-done
		}
		r.release(err)
		return driver.Status{}, ctx.Err()
	}
	r.release(err)
	if err != nil {
		return driver.Status{}, r.w.s.explain(ctx, err)
	}
	return status(r.demux.out.code), nil
}

// read reads the command's log until both streams have ended.
func (r *run) read(ctx context.Context) error {
	var late *time.Timer
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() {
		if late != nil {
			late.Stop()
		}
		r.demux.out.rest()
		r.demux.err.rest()
	}()
	for {
		p, err := r.log.next(limited)
		r.demux.Write(p)
		switch {
		case r.demux.out.ended && r.demux.err.ended:
			return nil
		case err != nil && r.demux.out.ended:
			return nil // its stderr is held open by something else, or lost
		case errors.Is(err, io.EOF):
			return errUnfinished
		case err != nil:
			return err
		case r.demux.out.ended && late == nil:
			late = time.AfterFunc(endTime, cancel)
		}
	}
}

// release gives the worker back, unless it may still be at work.
func (r *run) release(err error) {
	w := r.w
	w.s.pulse.leave()
	if w.loop == "" {
		r.log.drop()
	}
	switch {
	case err != nil || w.worn():
		w.s.retire(w, err == nil)
	default:
		w.s.keep(w)
	}
}

// status takes a shell's code apart: 128 and a signal's number may also be a program's own code,
// but for those signals that end a process without a chance to exit by itself.
func status(code int) driver.Status {
	switch sig := syscall.Signal(code - 128); sig {
	case syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGILL:
		return driver.Status{Code: -1, Signal: proc.SignalName(sig)}
	}
	return driver.Status{Code: code}
}
