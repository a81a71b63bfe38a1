//go:build unix && !remotebox_runner

package daytonatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// dirSystem keeps sandboxes in plain directories: what an ordinary user can do.
type dirSystem struct{ root string }

func (*dirSystem) isolated() bool { return false }

func (*dirSystem) machine(spec machineSpec) (machine, error) {
	root := filepath.Join(spec.disk, "root")
	if _, err := os.Stat(root); err != nil {
		if err := os.MkdirAll(root, 0o755); err != nil {
			return nil, err
		}
		for _, layer := range spec.layers {
			if out, err := exec.Command("cp", "-a", filepath.Join(layer, "root")+"/.", root).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("copying the image: %w: %s", err, out)
			}
		}
	}
	for _, dir := range []string{"home/daytona", "root", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return nil, err
		}
	}
	return &dirMachine{root: root, marker: []byte("DAYTONA_SANDBOX_ID=" + spec.id), gone: make(chan struct{})}, nil
}

type dirMachine struct {
	root   string
	marker []byte // in the environment of each of its processes
	mu     sync.Mutex
	groups []int
	gone   chan struct{}
	once   sync.Once
}

func (m *dirMachine) do(f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.gone:
		return errMachineGone
	default:
		return f()
	}
}

// path puts an absolute path below the machine's directory, unless it lies there already.
func (m *dirMachine) path(p string) string {
	if p == m.root || strings.HasPrefix(p, m.root+"/") {
		return p
	}
	return filepath.Join(m.root, filepath.Clean("/"+p))
}

func (m *dirMachine) start(cmd *exec.Cmd) error {
	return m.do(func() error {
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		if !cmd.SysProcAttr.Setsid {
			cmd.SysProcAttr.Setpgid = true
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		m.groups = append(m.groups, cmd.Process.Pid)
		return nil
	})
}

func (m *dirMachine) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	// The number of a group that still has members can't be given to anybody else; one that has none must not be
	// signalled again.
	if pid := cmd.Process.Pid; signalGroup(pid, 0) != nil {
		m.groups = slices.DeleteFunc(m.groups, func(g int) bool { return g == pid })
	}
	return err
}

func (m *dirMachine) pids() []int {
	return hostPids(func(proc string) bool {
		env, err := os.ReadFile(filepath.Join(proc, "environ"))
		return err == nil && bytes.Contains(env, m.marker)
	})
}

func (m *dirMachine) listening() []int { return listeningPorts(os.Getpid(), m.pids()) }

func (m *dirMachine) dial(ctx context.Context, port int) (net.Conn, error) {
	if runtime.GOOS == "linux" && !slices.Contains(m.listening(), port) { // elsewhere nobody can tell whose it is
		return nil, errors.New("connection refused")
	}
	return dialLoopback(ctx, port)
}

func (m *dirMachine) done() <-chan struct{} { return m.gone }

func (m *dirMachine) kill() {
	m.once.Do(func() {
		m.mu.Lock()
		close(m.gone)
		groups := slices.Clone(m.groups)
		m.mu.Unlock()
		for _, pid := range groups {
			_ = signalGroup(pid, syscall.SIGKILL)
		}
		// Killed parents may have forked meanwhile, so look until there are none.
		for range 50 {
			pids := m.pids()
			if len(pids) == 0 {
				return
			}
			for _, pid := range pids {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
}

func dialLoopback(ctx context.Context, port int) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
}

// makeDir is the server's directory and whether it is ours to remove.
func makeDir(dir, parent string) (string, bool, error) {
	if dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", false, err
		}
		return abs, false, os.MkdirAll(abs, 0o755)
	}
	dir, err := os.MkdirTemp(parent, "daytonatest-")
	if err != nil {
		return "", false, err
	}
	// Sandboxes run as other users too, and have to get through it.
	return dir, true, os.Chmod(dir, 0o755)
}
