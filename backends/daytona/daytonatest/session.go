//go:build !remotebox_runner

package daytonatest

import (
	"bufio"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// session is a shell that reads its commands from a pipe, one after another. A command is a file that the shell sources:
// what it does to the shell stays, and an exit is the shell's own.
type session struct {
	d      *daemon
	id     string
	dir    string
	cmd    *exec.Cmd
	stdin  *os.File
	status *os.File      // where the shell says how a command ended
	exited chan struct{} // the shell has ended, perhaps by a command's exit
	over   chan struct{} // the session has been deleted
	once   sync.Once

	mu       sync.Mutex
	commands []*sessionCommand
}

func (d *daemon) newSession(id string) (*session, error) {
	ses := &session{d: d, id: id, dir: path.Join(d.who.home, ".daytona/sessions", url.PathEscape(id)), exited: make(chan struct{}), over: make(chan struct{})}
	if err := makeDirs(d.m, d.who, ses.dir, 0o755); err != nil {
		return nil, err
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	status, out, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return nil, err
	}
	defer out.Close()
	ses.stdin, ses.status = stdin, status
	ses.cmd = command(d.m, d.who, []string{d.shell}, d.workdir, d.env)
	ses.cmd.Stdin, ses.cmd.ExtraFiles = in, []*os.File{out}
	if err := d.m.start(ses.cmd); err != nil {
		ses.close()
		return nil, err
	}
	d.srv.tasks.Go(func() {
		_ = d.m.wait(ses.cmd)
		close(ses.exited)
	})
	d.srv.tasks.Go(ses.readStatus)
	return ses, nil
}

// readStatus hears from the shell that a command has ended.
func (ses *session) readStatus() {
	lines := bufio.NewScanner(ses.status)
	for lines.Scan() {
		id, text, _ := strings.Cut(lines.Text(), " ")
		code, err := strconv.Atoi(text)
		if c := ses.command(id); c != nil && err == nil {
			c.finish(code)
		}
	}
	<-ses.exited
	ses.stdin.Close() // so that the next command fails
}

func (ses *session) command(id string) *sessionCommand {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	for _, c := range ses.commands {
		if c.id == id {
			return c
		}
	}
	return nil
}

// close lets go of the shell, which has ended or never started.
func (ses *session) close() {
	ses.once.Do(func() { close(ses.over) })
	ses.stdin.Close()
	ses.status.Close()
}

// end stops the session's process group: politely, then not.
func (ses *session) end() {
	pid := ses.cmd.Process.Pid
	_ = signalGroup(pid, syscall.SIGTERM)
	deadline := time.Now().Add(ses.d.srv.cfg.Times.SessionGrace)
	for time.Now().Before(deadline) && signalGroup(pid, 0) == nil {
		if ses.d.srv.sleep(5*time.Millisecond) != nil {
			break
		}
	}
	_ = signalGroup(pid, syscall.SIGKILL)
	<-ses.exited
	ses.close()
}

// find looks a session, and a command of it, up; it answers the request itself when there is none.
func (d *daemon) session(w http.ResponseWriter, r *http.Request) *session {
	d.mu.Lock()
	defer d.mu.Unlock()
	ses := d.sessions[r.PathValue("sid")]
	if ses == nil {
		d.fail(w, r, 404, "", "session not found")
	}
	return ses
}

func (d *daemon) sessionCommand(w http.ResponseWriter, r *http.Request) *sessionCommand {
	ses := d.session(w, r)
	if ses == nil {
		return nil
	}
	c := ses.command(r.PathValue("cid"))
	if c == nil {
		d.fail(w, r, 404, "", "command not found")
	}
	return c
}
