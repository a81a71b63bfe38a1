//go:build linux && !remotebox_runner

package daytonatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// nsSystem gives each sandbox namespaces and a root directory made of overlays.
type nsSystem struct {
	base string   // the skeleton of a root directory, and additions to /etc
	tops []string // directories of the host's root that sandboxes see copy-on-write
}

func newNSSystem(dir string) (*nsSystem, error) {
	sys := &nsSystem{base: filepath.Join(dir, "base")}
	root := filepath.Join(sys.base, "root")
	for _, d := range []string{"dev", "proc", "sys", "home/daytona", "root", "run", "var/tmp", "var/log", "var/lib", "mnt", "media", "srv", "opt", "tmp", "usr", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			return nil, err
		}
	}
	for _, d := range []string{"tmp", "var/tmp"} {
		if err := os.Chmod(filepath.Join(root, d), 0o777|os.ModeSticky); err != nil {
			return nil, err
		}
	}
	if err := os.Chmod(filepath.Join(root, "root"), 0o700); err != nil {
		return nil, err
	}
	if err := os.Chown(filepath.Join(root, "home/daytona"), sandboxUID, sandboxUID); err != nil {
		return nil, err
	}
	for _, name := range []string{"usr", "etc", "opt", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "nix"} {
		info, err := os.Lstat("/" + name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		if info.Mode()&os.ModeSymlink != 0 {
			target, err := os.Readlink("/" + name)
			if err != nil {
				return nil, err
			}
			if err := os.Symlink(target, filepath.Join(root, name)); err != nil && !errors.Is(err, os.ErrExist) {
				return nil, err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			return nil, err
		}
		sys.tops = append(sys.tops, name)
	}
	if err := sys.writeEtc(); err != nil {
		return nil, err
	}
	return sys, sys.probe(dir)
}

// writeEtc adds the user daytona to the accounts, and puts the name servers where a link into /run would dangle.
func (sys *nsSystem) writeEtc() error {
	etc := filepath.Join(sys.base, "etc")
	if err := os.MkdirAll(etc, 0o755); err != nil {
		return err
	}
	entry := map[string]string{
		"passwd":      fmt.Sprintf("%s:x:%d:%d::/home/daytona:/bin/sh\n", sandboxUser, sandboxUID, sandboxUID),
		"group":       fmt.Sprintf("%s:x:%d:\n", sandboxUser, sandboxUID),
		"resolv.conf": "",
	}
	for name, line := range entry {
		data, err := os.ReadFile(filepath.Join("/etc", name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if line != "" && len(data) > 0 && !strings.HasSuffix(string(data), "\n") {
			line = "\n" + line
		}
		// First, so that number and name resolve to ours even where the host has a user 1000.
		if err := os.WriteFile(filepath.Join(etc, name), append([]byte(line), data...), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (*nsSystem) isolated() bool { return true }

// probe makes a machine and throws it away, to find out whether the system lets us.
func (sys *nsSystem) probe(dir string) error {
	disk := filepath.Join(dir, "probe")
	defer os.RemoveAll(disk)
	m, err := sys.machine(machineSpec{id: "probe", disk: disk})
	if err != nil {
		return err
	}
	defer m.kill()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := runIn(ctx, m, account{}, []string{"/bin/sh", "-c", "echo $$ && touch /usr/.probe"}, "/", nil)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
