//go:build !remotebox_runner

package envd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"connectrpc.com/connect"

	"github.com/remote-box/remote/backends/e2b/e2btest/internal/jail"
	filesystempb "github.com/remote-box/remote/backends/e2b/internal/envdpb/filesystem"
)

// files is the service filesystem.Filesystem.
type files struct{ server *Server }

// in resolves a path for the calling user and calls use with it in the jail.
func (f *files) in(header http.Header, name string, use func(path string, user jail.User) error) error {
	user, err := f.server.rpcUser(header)
	if err != nil {
		return err
	}
	if doErr := f.server.cfg.Jail.Do(func() { err = use(f.server.resolve(name, user), user) }); doErr != nil {
		return connect.NewError(connect.CodeUnavailable, doErr)
	}
	return err
}

func (f *files) Stat(ctx context.Context, req *connect.Request[filesystempb.StatRequest]) (*connect.Response[filesystempb.StatResponse], error) {
	var file found
	err := f.in(req.Header(), req.Msg.GetPath(), func(path string, _ jail.User) (err error) {
		file, err = look(path)
		return fileError(err, path)
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&filesystempb.StatResponse{Entry: f.server.entry(file)}), nil
}

func (f *files) MakeDir(ctx context.Context, req *connect.Request[filesystempb.MakeDirRequest]) (*connect.Response[filesystempb.MakeDirResponse], error) {
	var file found
	err := f.in(req.Header(), req.Msg.GetPath(), func(path string, user jail.User) error {
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return connect.NewError(connect.CodeAlreadyExists, fmt.Errorf("directory already exists: %s", path))
			}
			return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("path already exists but it is not a directory: %s", path))
		}
		err := makeDirs(path, user)
		if err == nil {
			file, err = look(path)
		}
		return fileError(err, path)
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&filesystempb.MakeDirResponse{Entry: f.server.entry(file)}), nil
}

func (f *files) Move(ctx context.Context, req *connect.Request[filesystempb.MoveRequest]) (*connect.Response[filesystempb.MoveResponse], error) {
	var file found
	err := f.in(req.Header(), req.Msg.GetSource(), func(source string, user jail.User) error {
		destination := f.server.resolve(req.Msg.GetDestination(), user)
		err := makeDirs(path.Dir(destination), user)
		if err == nil {
			err = os.Rename(source, destination)
		}
		if err == nil {
			file, err = look(destination)
		}
		return fileError(err, source)
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&filesystempb.MoveResponse{Entry: f.server.entry(file)}), nil
}

func (f *files) ListDir(ctx context.Context, req *connect.Request[filesystempb.ListDirRequest]) (*connect.Response[filesystempb.ListDirResponse], error) {
	depth := max(1, int(req.Msg.GetDepth()))
	var list []found
	err := f.in(req.Header(), req.Msg.GetPath(), func(path string, _ jail.User) error {
		info, err := os.Stat(path)
		if err != nil {
			return fileError(err, path)
		}
		if !info.IsDir() {
			return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("path is not a directory: %s", path))
		}
		list, err = listDir(path, depth)
		return fileError(err, path)
	})
	if err != nil {
		return nil, err
	}
	response := &filesystempb.ListDirResponse{}
	for _, file := range list {
		response.Entries = append(response.Entries, f.server.entry(file))
	}
	return connect.NewResponse(response), nil
}

// listDir lists what is at most depth levels below dir, which may be a link.
func listDir(dir string, depth int) ([]found, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	var list []found
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == real {
			return err
		}
		relative := strings.TrimPrefix(strings.TrimPrefix(path, real), "/")
		file, err := look(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since it was listed
		}
		if err != nil {
			return err
		}
		file.path = filepath.Join(dir, relative)
		list = append(list, file)
		if d.IsDir() && strings.Count(relative, "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
	return list, err
}

// Remove succeeds for what isn't there.
func (f *files) Remove(ctx context.Context, req *connect.Request[filesystempb.RemoveRequest]) (*connect.Response[filesystempb.RemoveResponse], error) {
	err := f.in(req.Header(), req.Msg.GetPath(), func(path string, _ jail.User) error {
		if err := os.RemoveAll(path); err != nil {
			return connect.NewError(connect.CodeInternal, fmt.Errorf("error removing file or directory: %w", err))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&filesystempb.RemoveResponse{}), nil
}

func fileError(err error, path string) error {
	var coded *connect.Error
	switch {
	case err == nil, errors.As(err, &coded):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return connect.NewError(connect.CodeNotFound, fmt.Errorf("path '%s' does not exist", path))
	}
	return connect.NewError(connect.CodeInternal, err)
}

// makeDirs makes dir and its parents and gives the new ones to user. It must run
// in the jail.
func makeDirs(dir string, user jail.User) error {
	info, err := os.Stat(dir)
	if err == nil {
		if !info.IsDir() {
			return fmt.Errorf("path is a file: %s", dir)
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeDirs(filepath.Dir(dir), user); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return jail.Chown(dir, user.UID, user.GID)
}
