//go:build unix && !remotebox_runner

package daytonatest

import (
	"io/fs"
	"syscall"
)

func ownerOf(info fs.FileInfo) (uid, gid int) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid), int(st.Gid)
	}
	return 0, 0
}
