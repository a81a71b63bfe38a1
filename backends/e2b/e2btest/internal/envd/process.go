//go:build !remotebox_runner

package envd

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
	processpb "github.com/remote-box/remote/backends/e2b/internal/envdpb/process"
)

const (
	outputChunk = 32 << 10 // of stdout and stderr, per event (envd)
	ptyChunk    = 16 << 10
	retention   = 30 * time.Second // how long the end of a process can be asked for
)

// wrapper starts every command, as in envd: a missing binary is an exit code of
// the process, not an error of the call.
const wrapper = `if [ -x /usr/bin/nice ]; then exec /usr/bin/nice -n 0 "$@"; else exec "$@"; fi`

// process is one that was started by an RPC, until its end is forgotten.
type process struct {
	subscribers
	config *processpb.ProcessConfig
	tag    *string
	proc   *jail.Process
	pid    uint32

	input   sync.Mutex // one writer at a time
	mu      sync.Mutex
	stdin   *os.File // nil when disabled or closed
	pty     *os.File // nil without a terminal
	outputs []output
	killer  *time.Timer // nil without a deadline
}

// launch starts the process of a request; nothing reads its output yet.
func (s *Server) launch(request *processpb.StartRequest, user jail.User, env []string) (*process, error) {
	p := &process{config: request.Process, tag: request.Tag}
	p.closing = s.closing
	dir := s.resolve(request.GetProcess().GetCwd(), user)
	var statErr error
	if err := s.cfg.Jail.Do(func() { _, statErr = os.Stat(dir) }); err != nil {
		return nil, err
	}
	if statErr != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("cwd '%s' does not exist", dir))
	}
	command := jail.Command{
		Argv: append([]string{"/bin/sh", "-c", wrapper, "--", request.GetProcess().GetCmd()}, request.GetProcess().GetArgs()...),
		Env:  env,
		Dir:  dir, User: user,
	}
	var theirs []*os.File
	defer func() {
		for _, file := range theirs {
			file.Close()
		}
	}()
	if err := s.connectFiles(p, request, &command, &theirs); err != nil {
		p.closeFiles()
		return nil, err
	}
	proc, err := s.cfg.Jail.Start(command)
	if err != nil {
		p.closeFiles()
		return nil, err
	}
	p.proc, p.pid = proc, uint32(proc.PID)
	return p, nil
}

// killAt sets the process's deadline. It must be called before follow.
func (p *process) killAt(deadline time.Time) {
	p.killer = time.AfterFunc(time.Until(deadline), func() { p.proc.Kill() })
}

// follow publishes the output and then the end. It returns after the process has
// exited and everyone who holds its stdout or stderr has let go.
func (p *process) follow() {
	var readers sync.WaitGroup
	for _, out := range p.outputs {
		readers.Go(func() { p.copyOutput(out) })
	}
	readers.Wait()
	state, err := p.proc.Wait()
	if p.killer != nil {
		p.killer.Stop()
	}
	p.closeFiles()
	end := &processpb.ProcessEvent_EndEvent{ExitCode: -1, Status: "unknown"}
	if err == nil {
		end.ExitCode, end.Exited, end.Status = int32(state.ExitCode()), state.Exited(), state.String()
		if !state.Success() {
			end.Error = new(end.Status)
		}
	}
	p.finish(&processpb.ProcessEvent{Event: &processpb.ProcessEvent_End{End: end}})
}

func (p *process) copyOutput(out output) {
	buf := make([]byte, out.chunk)
	for {
		n, err := out.file.Read(buf)
		if n > 0 {
			data := out.event(slices.Clone(buf[:n]))
			p.publish(&processpb.ProcessEvent{Event: &processpb.ProcessEvent_Data{Data: data}})
		}
		if err != nil { // end of file, or EIO when the last process left the terminal
			return
		}
	}
}
