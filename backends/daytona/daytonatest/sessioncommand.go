//go:build !remotebox_runner

package daytonatest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"sync"
	"time"
)

// sessionCommand is one command of a session.
type sessionCommand struct {
	id, text string
	noEcho   bool
	log      *logBuffer
	done     chan struct{} // closed when the exit code is known; never for a command that took the shell with it

	mu    sync.Mutex
	code  *int
	input *os.File   // the command's stdin, while it runs
	files []*os.File // ends of its pipes that are held until it has ended
	out   *labeler
}

// run hands a command to the shell.
func (ses *session) run(text string, noEcho bool) (*sessionCommand, error) {
	c := &sessionCommand{id: newUUID(), text: text, noEcho: noEcho, log: &logBuffer{}, done: make(chan struct{})}
	dir := path.Join(ses.dir, c.id)
	d := ses.d
	if err := makeDirs(d.m, d.who, dir, 0o755); err != nil {
		return nil, err
	}
	f, err := createFile(d.m, d.who, path.Join(dir, "command"), 0o644)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	stdout, err := c.pipe(d, path.Join(dir, "stdout"))
	if err != nil {
		return nil, err
	}
	stderr, err := c.pipe(d, path.Join(dir, "stderr"))
	if err != nil {
		stdout.Close()
		c.release()
		return nil, err
	}
	if c.input, err = openFIFO(d, path.Join(dir, "stdin"), os.O_RDWR); err != nil {
		stdout.Close()
		stderr.Close()
		c.release()
		return nil, err
	}
	c.out = &labeler{log: c.log, mark: markStdout}
	var readers sync.WaitGroup
	readers.Go(func() { _, _ = c.out.ReadFrom(stdout); stdout.Close() })
	readers.Go(func() { _, _ = (&labeler{log: c.log, mark: markStderr}).ReadFrom(stderr); stderr.Close() })
	drained := make(chan struct{})
	d.srv.tasks.Go(func() {
		readers.Wait()
		close(drained)
	})
	d.srv.tasks.Go(func() { ses.watch(c, drained, stdout, stderr) })
	ses.mu.Lock()
	ses.commands = append(ses.commands, c)
	ses.mu.Unlock()
	quoted := func(name string) string {
		return "'" + strings.ReplaceAll(d.m.path(path.Join(dir, name)), "'", `'\''`) + "'"
	}
	line := fmt.Sprintf("{ . %s; } > %s 2> %s < %s 3>&-; echo \"%s $?\" >&3\n", quoted("command"), quoted("stdout"), quoted("stderr"), quoted("stdin"), c.id)
	if _, err := ses.stdin.WriteString(line); err != nil {
		c.release()
		c.log.end()
		return nil, errors.New("failed to write command: write |1: broken pipe")
	}
	return c, nil
}

// watch ends a command's log: when its exit code is known and what it printed has been read, or with the session. A process that
// the command left behind may hold the pipes; it is not waited for.
func (ses *session) watch(c *sessionCommand, drained <-chan struct{}, pipes ...*os.File) {
	select {
	case <-c.done:
	case <-ses.over:
	case <-ses.d.m.done():
	}
	c.release()
	linger := time.NewTimer(50 * time.Millisecond)
	defer linger.Stop()
	select {
	case <-drained:
	case <-linger.C:
	}
	c.log.end()
	select { // what is left behind goes on printing into the log, until the session ends
	case <-drained:
	case <-ses.over:
	case <-ses.d.m.done():
	}
	for _, p := range pipes {
		p.Close()
	}
}

// pipe makes a named pipe for output. The end for writing is held, so that it ends no sooner than the command.
func (c *sessionCommand) pipe(d *daemon, name string) (*os.File, error) {
	r, err := openFIFO(d, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	err = d.m.do(func() error {
		w, err := os.OpenFile(d.m.path(name), os.O_WRONLY|openNonblock, 0)
		if err == nil {
			c.files = append(c.files, w)
		}
		return err
	})
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func openFIFO(d *daemon, name string, flag int) (f *os.File, err error) {
	err = d.m.do(func() error {
		if err := makeFIFO(d.m.path(name)); err != nil {
			return err
		}
		if err := own(d.m.path(name), d.who); err != nil {
			return err
		}
		f, err = os.OpenFile(d.m.path(name), flag|openNonblock, 0)
		return err
	})
	return f, err
}

func (c *sessionCommand) finish(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.code == nil {
		c.code = &code
		close(c.done)
	}
}

// release lets go of the command's pipes.
func (c *sessionCommand) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.input != nil {
		c.input.Close()
		c.input = nil
	}
	for _, f := range c.files {
		f.Close()
	}
	c.files = nil
}

func (c *sessionCommand) exitCode() *int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.code
}
