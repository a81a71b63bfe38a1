//go:build !remotebox_runner

package daytonatest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// sandboxUser is the user of the default snapshot.
const (
	sandboxUser = "daytona"
	sandboxUID  = 1000
)

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// account is who a process runs as. The zero value is root, or whoever runs the server.
type account struct {
	name     string
	uid, gid uint32
	home     string
}

// account finds a user of the image in the machine's own accounts. Where sandboxes are directories everybody is who
// runs the server.
func (s *Server) account(m machine, spec string) (account, error) {
	if !s.system.isolated() {
		return account{name: sandboxUser, home: m.path("/home/daytona")}, nil
	}
	user, _, _ := strings.Cut(spec, ":")
	if user == "" || user == "root" || user == "0" {
		return account{name: "root", home: "/root"}, nil
	}
	var passwd []byte
	err := m.do(func() (err error) {
		passwd, err = os.ReadFile("/etc/passwd")
		return err
	})
	if err != nil {
		return account{}, err
	}
	for line := range strings.Lines(string(passwd)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(f) < 7 || f[0] != user && f[2] != user {
			continue
		}
		uid, err1 := strconv.ParseUint(f[2], 10, 32)
		gid, err2 := strconv.ParseUint(f[3], 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return account{}, err
		}
		return account{name: f[0], uid: uint32(uid), gid: uint32(gid), home: f[5]}, nil
	}
	if uid, err := strconv.ParseUint(user, 10, 32); err == nil {
		return account{name: user, uid: uint32(uid), gid: uint32(uid), home: "/"}, nil
	}
	return account{}, errors.New("unable to find user " + user + ": no matching entries in passwd file")
}

// command is a process that is going to run in m.
func command(m machine, who account, argv []string, dir string, env []string) *exec.Cmd {
	return &exec.Cmd{Path: argv[0], Args: argv, Dir: m.path(dir), Env: env, SysProcAttr: credential(who)}
}

// runIn runs a command to its end, or kills its group when ctx ends, and returns what it printed.
func runIn(ctx context.Context, m machine, who account, argv []string, dir string, env []string) ([]byte, error) {
	return run(ctx, m, command(m, who, argv, dir, env), nil)
}

// run is runIn with something to read. It returns when the command and everybody who shares its output have ended.
func run(ctx context.Context, m machine, cmd *exec.Cmd, stdin []byte) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	var feed sync.WaitGroup
	if stdin != nil {
		in, out, err := os.Pipe()
		if err != nil {
			w.Close()
			return nil, err
		}
		defer in.Close()
		cmd.Stdin = in
		feed.Go(func() {
			_, _ = out.Write(stdin)
			_ = out.Close()
		})
		defer feed.Wait()
		defer out.Close() // ends a write that nobody reads
	}
	err = m.start(cmd)
	w.Close()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = out.ReadFrom(r)
	}()
	select {
	case <-copied:
	case <-ctx.Done():
		_ = signalGroup(cmd.Process.Pid, syscall.SIGKILL)
	case <-m.done():
	}
	r.Close() // whoever left the group may still hold the other end
	<-copied
	err = m.wait(cmd)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), err
}

// exitCode is a finished process's, the way Go's os package counts: -1 when a signal ended it.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// findShell is the shell that the toolbox uses.
func findShell(m machine) string {
	shell := "/bin/sh"
	_ = m.do(func() error {
		for _, name := range []string{"/usr/bin/bash", "/bin/bash"} {
			if _, err := os.Stat(name); err == nil {
				shell = name
				return nil
			}
		}
		return nil
	})
	return shell
}

// mergeEnv puts later settings over earlier ones.
func mergeEnv(lists ...[]string) []string {
	at := map[string]int{}
	var out []string
	for _, list := range lists {
		for _, kv := range list {
			k, _, _ := strings.Cut(kv, "=")
			if i, ok := at[k]; ok {
				out[i] = kv
				continue
			}
			at[k] = len(out)
			out = append(out, kv)
		}
	}
	return out
}

// inDir resolves a path of a request against the working directory.
func inDir(dir, p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") || path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}
