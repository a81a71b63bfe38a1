//go:build unix && !remotebox_runner

package owndir

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file is this user's and has none of the modes in forbidden.
func ours(info fs.FileInfo, forbidden fs.FileMode) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid() && info.Mode().Perm()&forbidden == 0
}
