package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/proc"
)

// runAttach joins its standard streams to the supervisor that is the sandbox's first process.
func runAttach() int {
	out, err := takeStdout()
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	nonce := take(callproc.EnvNonce)
	conn, err := dial(stateDir().socket())
	if err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner: no supervisor:", err)
		return 2
	}
	if _, err := io.WriteString(conn, nonce+"\n"); err != nil {
		fmt.Fprintln(os.Stderr, "remote-box runner:", err)
		return 2
	}
	go func() {
		io.Copy(conn, os.Stdin)
		syscall.Shutdown(int(conn.Fd()), syscall.SHUT_WR)
	}()
	io.Copy(out, conn)
	return 0
}

// dialTime is how long a supervisor may take to listen: its packages initialise first.
const dialTime = 20 * time.Second

func dial(path string) (*os.File, error) {
	deadline := time.Now().Add(dialTime)
	for {
		f, err := connect(path)
		if err == nil {
			return f, nil
		}
		absent := errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
		if !absent || time.Now().After(deadline) {
			return nil, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// runKill ends every process that carries a tag: those of a command whose caller gave it up.
func runKill() int {
	tag := take(callproc.EnvCall)
	if tag == "" {
		return 2
	}
	proc.End(context.Background(), func() []int { return proc.Tagged(proc.CallTag, tag) }, 0)
	return 0
}
