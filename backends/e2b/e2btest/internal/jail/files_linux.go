//go:build !remotebox_runner

package jail

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// xattrPrefix is where the metadata of an upload is kept.
const xattrPrefix = "user.e2b."

// Owner says who owns a file.
func Owner(info fs.FileInfo) (uid, gid uint32) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Uid, stat.Gid
	}
	return 0, 0
}

// Chown gives a file, not what a link points to, to user. Without the right to
// do so, as in an unconfined jail, files belong to whoever runs the server.
func Chown(path string, uid, gid uint32) error {
	if os.Getuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(uid), int(gid))
}

// SetMetadata keeps a key with a file.
func SetMetadata(path, key, value string) error {
	return syscall.Setxattr(path, xattrPrefix+key, []byte(value), 0)
}

// Metadata returns what SetMetadata kept; nil on file systems that keep nothing.
func Metadata(path string) map[string]string {
	size, err := syscall.Listxattr(path, nil)
	if err != nil || size == 0 {
		return nil
	}
	names := make([]byte, size)
	if size, err = syscall.Listxattr(path, names); err != nil {
		return nil
	}
	var metadata map[string]string
	for name := range strings.SplitSeq(strings.TrimRight(string(names[:size]), "\x00"), "\x00") {
		key, ok := strings.CutPrefix(name, xattrPrefix)
		if !ok {
			continue
		}
		value := make([]byte, 64<<10)
		n, err := syscall.Getxattr(path, name, value)
		if err != nil {
			continue
		}
		if metadata == nil {
			metadata = make(map[string]string)
		}
		metadata[key] = string(value[:n])
	}
	return metadata
}

// Disk returns the size of the file system that holds path, and what of it is
// in use, in bytes.
func Disk(path string) (used, total uint64) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(path, &stat); err != nil {
		return 0, 0
	}
	total = stat.Blocks * uint64(stat.Bsize)
	return total - stat.Bfree*uint64(stat.Bsize), total
}

// Memory returns the machine's memory in bytes.
func Memory() (used, total, cache uint64) {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0, 0, 0
	}
	unit := uint64(info.Unit)
	return (uint64(info.Totalram) - uint64(info.Freeram)) * unit, uint64(info.Totalram) * unit, uint64(info.Bufferram) * unit
}
