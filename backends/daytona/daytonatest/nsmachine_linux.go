//go:build linux && !remotebox_runner

package daytonatest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
)

// nsMachine is a machine with namespaces of its own. The way in is a thread that lives in it: one goroutine, locked to
// its thread, leaves the process's mount namespace, file system root and PID namespace for children, and from then on
// opens the sandbox's files and forks the sandbox's processes. The thread dies with the goroutine, and the mounts
// with the thread. So nothing has to be executed again as a helper, which a test binary could not do.
type nsMachine struct {
	calls  chan func()
	quit   chan struct{} // asks the thread to leave
	left   chan struct{} // it has
	gone   chan struct{}
	once   sync.Once
	init   *exec.Cmd // process 1; its end is everybody's
	initNS string    // the PID namespace's name
	ownNet bool
}

// initScript is process 1: it waits, and thereby reaps orphans. Being asked to end is not for it and its sleep. A process
// inside has to mount /proc.
const initScript = `mount -t proc proc /proc || exit 1
echo ready
exec </dev/null >/dev/null 2>&1
trap '' TERM HUP INT
while :; do sleep 86400 & wait $!; done`

func (sys *nsSystem) machine(spec machineSpec) (machine, error) {
	m := &nsMachine{calls: make(chan func()), quit: make(chan struct{}), left: make(chan struct{}), gone: make(chan struct{})}
	ready := make(chan error, 1)
	go m.thread(func() error { return m.enter(sys, spec) }, ready)
	if err := <-ready; err != nil {
		<-m.left
		return nil, err
	}
	return m, nil
}

// thread runs on its own thread until quit. It never unlocks it: a thread that was in a sandbox must not return to
// the scheduler.
func (m *nsMachine) thread(enter func() error, ready chan<- error) {
	runtime.LockOSThread()
	if syscall.Gettid() == os.Getpid() {
		// The main thread can't end, and its mounts with it could not either. Hold it while another one is taken.
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.thread(enter, ready)
		}()
		<-done
		runtime.UnlockOSThread()
		return
	}
	defer close(m.left)
	err := enter()
	ready <- err
	if err != nil {
		return
	}
	for {
		select {
		case f := <-m.calls:
			f()
		case <-m.quit:
			// Detach now, rather than whenever the kernel frees the namespace: the disk may be mounted again at once.
			for _, dir := range []string{"/proc", "/dev", "/sys", "/usr", "/etc", "/opt", "/"} {
				_ = syscall.Unmount(dir, syscall.MNT_DETACH)
			}
			return
		}
	}
}

func (m *nsMachine) enter(sys *nsSystem, spec machineSpec) error {
	flags := syscall.CLONE_FS | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS
	if spec.ownNet {
		flags |= syscall.CLONE_NEWNET
	}
	if err := syscall.Unshare(flags); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	if m.ownNet = spec.ownNet; m.ownNet {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("bringing loopback up: %w", err)
		}
	}
	_ = syscall.Sethostname([]byte(spec.id)) // cosmetic
	root := filepath.Join(spec.disk, "mnt")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if err := sys.overlay(spec, "root", root, filepath.Join(sys.base, "root")); err != nil {
		return err
	}
	for _, top := range sys.tops {
		lowers := []string{"/" + top}
		if own := filepath.Join(sys.base, top); exists(own) {
			lowers = []string{own, "/" + top}
		}
		if err := sys.overlay(spec, top, filepath.Join(root, top), lowers...); err != nil {
			return err
		}
	}
	for _, dir := range []string{"dev", "sys"} {
		if err := syscall.Mount("/"+dir, filepath.Join(root, dir), "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
			return fmt.Errorf("mounting /%s: %w", dir, err)
		}
	}
	if err := syscall.Chroot(root); err != nil {
		return fmt.Errorf("chroot: %w", err)
	}
	if err := syscall.Chdir("/"); err != nil {
		return err
	}
	return m.startInit()
}

// overlay mounts one directory: the disk's on top, then the image's, then what everybody sees.
func (*nsSystem) overlay(spec machineSpec, name, target string, base ...string) error {
	upper, work := filepath.Join(spec.disk, name), filepath.Join(spec.disk, ".work", name)
	var lower []string
	for _, layer := range spec.layers {
		if dir := filepath.Join(layer, name); exists(dir) {
			lower = append(lower, dir)
		}
	}
	lower = append(lower, base...)
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	for _, dir := range []string{upper, work} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	// The upper directory decides about the merged one's mode and owner.
	if info, err := os.Stat(lower[0]); err == nil {
		_ = os.Chmod(upper, info.Mode().Perm())
	}
	options := "lowerdir=" + strings.Join(lower, ":") + ",upperdir=" + upper + ",workdir=" + work
	if err := syscall.Mount("overlay", target, "overlay", 0, options); err != nil {
		return fmt.Errorf("mounting an overlay on %s: %w", target, err)
	}
	return nil
}

func (m *nsMachine) startInit() error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer out.Close()
	m.init = &exec.Cmd{
		Path: "/bin/sh", Args: []string{"daytona", "-c", initScript}, Dir: "/",
		Env:    []string{"PATH=" + defaultPath},
		Stdout: in, Stderr: in,
		// The thread lives as long as the machine, so this fires when this process dies without having cleaned up.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	err = m.init.Start()
	in.Close()
	if err != nil {
		return fmt.Errorf("starting process 1: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil && line == "ready\n" {
		// Seen from inside, where /proc is the sandbox's: 1 is process 1.
		if m.initNS, err = os.Readlink("/proc/1/ns/pid"); err == nil {
			return nil
		}
	}
	_ = m.init.Process.Kill()
	_ = m.init.Wait()
	return fmt.Errorf("process 1 did not come up: %q, %w", line, err)
}

func (m *nsMachine) do(f func() error) error {
	var err error
	done := make(chan struct{})
	call := func() {
		defer close(done)
		err = f()
	}
	select {
	case m.calls <- call:
		<-done
		return err
	case <-m.gone:
		return errMachineGone
	}
}

func (m *nsMachine) path(p string) string { return p }

func (m *nsMachine) start(cmd *exec.Cmd) error {
	return m.do(func() error {
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		if !cmd.SysProcAttr.Setsid {
			cmd.SysProcAttr.Setpgid = true
		}
		return cmd.Start()
	})
}

func (m *nsMachine) wait(cmd *exec.Cmd) error { return cmd.Wait() }

func (m *nsMachine) pids() []int {
	return hostPids(func(proc string) bool {
		ns, err := os.Readlink(filepath.Join(proc, "ns/pid"))
		return err == nil && ns == m.initNS
	})
}

func (m *nsMachine) done() <-chan struct{} { return m.gone }

func (m *nsMachine) kill() {
	m.once.Do(func() {
		close(m.gone)
		_ = m.init.Process.Kill()
		_ = m.init.Wait() // returns when the last process of the namespace is gone
		close(m.quit)
	})
	<-m.left
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
