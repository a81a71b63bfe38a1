//go:build !remotebox_runner

package jail

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// hostDirs hold the host's programs beside /usr. Where they are links into
// /usr, so they are in the jail; else the host's are mounted.
var hostDirs = [...]string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"}

// hostEtc is what programs need of the host's /etc. Nothing secret is in it.
var hostEtc = [...]string{
	"alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version",
	"java-17-openjdk", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "login.defs", "magic", "mime.types",
	"networks", "nsswitch.conf", "os-release", "pam.conf", "pam.d", "perl", "pki", "protocols", "python3",
	"resolv.conf", "rpc", "security", "services", "shells", "skel", "ssl", "terminfo", "timezone",
}

// written are the files that differ from the host's. The login shell sets PATH
// as Debian's does.
var written = [...]struct {
	name, text string
	mode       fs.FileMode
}{
	{"passwd", "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nwww-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\nuser:x:1000:1000::/home/user:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n", 0o644},
	{"group", "root:x:0:\ndaemon:x:1:\ntty:x:5:\nsudo:x:27:user\nwww-data:x:33:\nusers:x:100:\nuser:x:1000:\nnogroup:x:65534:\n", 0o644},
	{"shadow", "root:*:19000:0:99999:7:::\nuser:*:19000:0:99999:7:::\n", 0o640},
	{"gshadow", "", 0o640},
	{"hostname", "e2b.local\n", 0o644},
	{"hosts", "127.0.0.1\tlocalhost e2b.local\n::1\tlocalhost ip6-localhost ip6-loopback\n", 0o644},
	{"sudoers", "Defaults env_reset\nroot ALL=(ALL:ALL) ALL\nuser ALL=(ALL:ALL) NOPASSWD: ALL\n", 0o440},
	{"profile", `if [ "$(id -u)" -eq 0 ]; then
  PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
else
  PATH="/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
fi
export PATH
for i in /etc/profile.d/*.sh; do
  if [ -r "$i" ]; then . "$i"; fi
done
unset i
`, 0o644},
}

// WriteBase fills the empty directory dir with the files that every jail has
// below its own: what a base image is elsewhere.
func WriteBase(dir string) error {
	dirs := []struct {
		name string
		mode fs.FileMode
	}{
		{"", 0o755},
		{"usr", 0o755},
		{"dev", 0o755},
		{"proc", 0o555},
		{"sys", 0o555},
		{"run", 0o755},
		{"run/lock", 0o755 | 0o777},
		{"tmp", 0o777 | fs.ModeSticky},
		{"root", 0o700},
		{"home", 0o755},
		{"home/user", 0o755},
		{"mnt", 0o755},
		{"media", 0o755},
		{"opt", 0o755},
		{"srv", 0o755},
		{"etc", 0o755},
		{"etc/profile.d", 0o755},
		{"etc/sudoers.d", 0o750},
		{"var", 0o755},
		{"var/tmp", 0o777 | fs.ModeSticky},
		{"var/log", 0o755},
		{"var/lib", 0o755},
		{"var/cache", 0o755},
		{"var/mail", 0o755},
	}
	for _, d := range dirs {
		path := filepath.Join(dir, d.name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(path, d.mode); err != nil { // whatever the umask
			return err
		}
	}
	if err := os.Symlink("/run", filepath.Join(dir, "var/run")); err != nil {
		return err
	}
	for _, name := range hostDirs {
		info, err := os.Lstat("/" + name)
		switch {
		case err != nil:
		case info.IsDir():
			err = os.Mkdir(filepath.Join(dir, name), 0o755)
		default:
			err = copyEntry("/"+name, filepath.Join(dir, name), info)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range hostEtc {
		if err := copyTree("/etc/"+name, filepath.Join(dir, "etc", name)); err != nil {
			return err
		}
	}
	for _, w := range written {
		path := filepath.Join(dir, "etc", w.name)
		if err := os.WriteFile(path, []byte(w.text), 0o600); err != nil {
			return err
		}
		if err := os.Chmod(path, w.mode); err != nil {
			return err
		}
	}
	if os.Getuid() != 0 {
		return nil
	}
	return os.Chown(filepath.Join(dir, "home/user"), 1000, 1000)
}

// copyTree copies what can be read of a file or directory of the host. Links to
// nowhere, unreadable files and directories called "private" are left out.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "private":
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		err = copyEntry(path, to+strings.TrimPrefix(path, from), info)
		if errors.Is(err, fs.ErrPermission) {
			return nil
		}
		return err
	})
}

func copyEntry(from, to string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return os.MkdirAll(to, info.Mode().Perm()|0o700)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if strings.HasPrefix(target, "/run/") || strings.HasPrefix(target, "../run/") {
			break // resolv.conf of systemd: its target isn't in the jail
		}
		return os.Symlink(target, to)
	case !info.Mode().IsRegular():
		return nil
	}
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}
