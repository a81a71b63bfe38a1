//go:build !remotebox_runner

package daytonatest

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// pty is a shell on a terminal.
type pty struct {
	d       *daemon
	id      string
	cwd     string
	env     []string
	created time.Time

	mu         sync.Mutex
	cols, rows int
	term       *os.File // the server's side; nil until it starts, and after
	cmd        *exec.Cmd
	over       bool
	log        *logBuffer    // everything that was printed
	exited     chan struct{} // closed when the shell has ended
	code       int
}

// start starts the shell, once.
func (p *pty) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return errors.New("PTY session is not active")
	}
	if p.cmd != nil {
		return nil
	}
	term, tty, err := openTerminal(p.d.m, p.cols, p.rows)
	if err != nil {
		return err
	}
	cmd := command(p.d.m, p.d.who, []string{p.d.shell}, p.cwd, p.env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	controlTerminal(cmd)
	err = p.d.m.start(cmd)
	tty.Close()
	if err != nil {
		term.Close()
		return err
	}
	p.term, p.cmd = term, cmd
	p.d.srv.tasks.Go(func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := term.Read(buf)
			_, _ = p.log.Write(buf[:n])
			if err != nil {
				break // the last process on the terminal has ended
			}
		}
		err := p.d.m.wait(cmd)
		p.mu.Lock()
		p.over, p.code = true, exitCode(err)
		p.mu.Unlock()
		term.Close()
		close(p.exited)
		p.log.end()
	})
	return nil
}

func (p *pty) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if p.cmd == nil {
		p.log.end()
		return
	}
	_ = signalGroup(p.cmd.Process.Pid, syscall.SIGKILL)
	p.term.Close()
}

// exit is how the shell ended, as the WebSocket's close reason has it.
func (p *pty) exit() map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.exited:
		if p.code >= 0 {
			return map[string]any{"exitCode": p.code}
		}
	default:
	}
	return map[string]any{"exitCode": 137, "exitReason": "killed"}
}
