//go:build !remotebox_runner

package jail

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// reaper is process 1: it mounts /proc, which only a process inside the new
// name space can, and then collects orphans for ever.
const reaper = `mount -t proc proc /proc || exit 1
echo ready
while :; do sleep 2147483647 & wait; done`

// mountpoint is one mount below the jail's root.
type mountpoint struct {
	source, target, fstype string
	flags                  uintptr
	data                   string
}

// enter moves the calling thread into new name spaces and starts process 1.
func (j *Jail) enter() error {
	flags := syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
	if j.cfg.PrivateNetwork {
		flags |= syscall.CLONE_NEWNET
	}
	if err := syscall.Unshare(flags); err != nil {
		return fmt.Errorf("new name spaces: %w", err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Sethostname([]byte("e2b.local")); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	if j.cfg.PrivateNetwork {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("loopback interface: %w", err)
		}
	}
	root := filepath.Join(j.cfg.Dir, "merged")
	if err := j.mountAll(root); err != nil {
		return err
	}
	// pivot_root, unlike chroot, leaves no way back to the host's files.
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot root: %w", err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the host's root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return j.startInit()
}

func (j *Jail) overlay(part, lowest string) string {
	var lower []string
	for _, layer := range j.cfg.Layers {
		lower = append(lower, filepath.Join(layer, part))
	}
	lower = append(lower, lowest)
	return fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", strings.Join(lower, ":"),
		filepath.Join(j.cfg.Dir, part), filepath.Join(j.cfg.Dir, "work", part))
}

func (j *Jail) mountAll(root string) error {
	mounts := []mountpoint{
		{"overlay", "", "overlay", 0, j.overlay("root", j.cfg.Base)},
		{"overlay", "usr", "overlay", 0, j.overlay("usr", "/usr")},
		{"tmpfs", "dev", "tmpfs", syscall.MS_NOSUID, "mode=755"},
	}
	for _, name := range hostDirs {
		if info, err := os.Lstat("/" + name); err == nil && info.IsDir() {
			mounts = append(mounts, mountpoint{"/" + name, name, "", syscall.MS_BIND, ""})
		}
	}
	for _, m := range mounts {
		if err := m.mount(root); err != nil {
			return err
		}
	}
	for _, dir := range []string{"dev/pts", "dev/shm"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	mounts = []mountpoint{
		{"devpts", "dev/pts", "devpts", syscall.MS_NOSUID | syscall.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5"},
		{"tmpfs", "dev/shm", "tmpfs", syscall.MS_NOSUID | syscall.MS_NODEV, "mode=1777"},
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		target := "dev/" + name
		if err := os.WriteFile(filepath.Join(root, target), nil, 0o666); err != nil {
			return err
		}
		mounts = append(mounts, mountpoint{"/dev/" + name, target, "", syscall.MS_BIND, ""})
	}
	for _, m := range mounts {
		if err := m.mount(root); err != nil {
			return err
		}
	}
	links := map[string]string{"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(root, "dev", name)); err != nil {
			return err
		}
	}
	return nil
}

func (m mountpoint) mount(root string) error {
	target := filepath.Join(root, m.target)
	if err := syscall.Mount(m.source, target, m.fstype, m.flags, m.data); err != nil {
		return fmt.Errorf("mount %s on /%s: %w", m.source, m.target, err)
	}
	return nil
}

func (j *Jail) startInit() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	j.init = &exec.Cmd{
		Path: "/bin/sh", Args: []string{"sh", "-c", reaper},
		Env: []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, Stdout: w, Stderr: w,
		// When the thread ends, and it ends with this program whatever kills that,
		// process 1 is killed and all others with it.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	err = j.init.Start()
	w.Close()
	if err != nil {
		return fmt.Errorf("process 1: %w", err)
	}
	in := bufio.NewReader(r)
	line, err := in.ReadString('\n')
	if err != nil || line != "ready\n" {
		j.init.Process.Kill()
		rest, _ := io.ReadAll(in)
		j.init.Wait()
		return fmt.Errorf("process 1: %s%s", line, rest)
	}
	return nil
}
