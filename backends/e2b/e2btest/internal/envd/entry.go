//go:build !remotebox_runner

package envd

import (
	"io/fs"
	"os"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
	filesystempb "github.com/remote-box/remote/backends/e2b/internal/envdpb/filesystem"
)

// found is what one look at a file gave, inside the jail.
type found struct {
	path     string
	info     fs.FileInfo // of a link, not of its target
	target   string
	metadata map[string]string
}

// look must run in the jail.
func look(path string) (found, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return found{}, err
	}
	f := found{path: path, info: info, metadata: jail.Metadata(path)}
	if info.Mode()&fs.ModeSymlink != 0 {
		f.target, _ = os.Readlink(path)
	}
	return f, nil
}

// entry translates, outside the jail's thread.
func (s *Server) entry(f found) *filesystempb.EntryInfo {
	owner, group := s.names(jail.Owner(f.info))
	entry := &filesystempb.EntryInfo{
		Name: f.info.Name(), Type: fileType(f.info.Mode()), Path: f.path, Size: f.info.Size(),
		Mode: uint32(f.info.Mode().Perm()), Permissions: f.info.Mode().String(),
		Owner: owner, Group: group, ModifiedTime: timestamppb.New(f.info.ModTime()), Metadata: f.metadata,
	}
	if f.target != "" {
		entry.SymlinkTarget = &f.target
	}
	return entry
}

func fileType(mode fs.FileMode) filesystempb.FileType {
	switch {
	case mode.IsRegular():
		return filesystempb.FileType_FILE_TYPE_FILE
	case mode.IsDir():
		return filesystempb.FileType_FILE_TYPE_DIRECTORY
	case mode&fs.ModeSymlink != 0:
		return filesystempb.FileType_FILE_TYPE_SYMLINK
	}
	return filesystempb.FileType_FILE_TYPE_UNSPECIFIED
}
