//go:build !remotebox_runner

package daytonatest

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// abs resolves a path of a request: relative ones against the working directory, ~ against the home.
func (d *daemon) abs(p string) string {
	if p == "~" || strings.HasPrefix(p, "~/") {
		return path.Join(d.who.home, p[1:])
	}
	return inDir(d.workdir, p)
}

// own gives a file to who, where the server may give files away.
func own(name string, who account) error {
	if who.uid == 0 {
		return nil
	}
	return os.Lchown(name, int(who.uid), int(who.gid))
}

// makeDirs makes a directory and its parents.
func makeDirs(m machine, who account, dir string, mode fs.FileMode) error {
	return m.do(func() error {
		var missing []string
		for p := path.Clean(dir); ; p = path.Dir(p) {
			if info, err := os.Stat(m.path(p)); err == nil {
				if !info.IsDir() {
					return fmt.Errorf("mkdir %s: not a directory", p)
				}
				break
			}
			missing = append(missing, p)
			if p == "/" || p == "." {
				break
			}
		}
		slices.Reverse(missing)
		for _, p := range missing {
			if err := os.Mkdir(m.path(p), mode); err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
			if err := errors.Join(os.Chmod(m.path(p), mode), own(m.path(p), who)); err != nil {
				return err
			}
		}
		return nil
	})
}

// createFile opens a file for writing, in place, as the toolbox writes.
func createFile(m machine, who account, name string, mode fs.FileMode) (f *os.File, err error) {
	err = m.do(func() error {
		p := m.path(name)
		_, statErr := os.Stat(p)
		if f, err = os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|openNonblock, mode); err != nil {
			return err
		}
		if errors.Is(statErr, fs.ErrNotExist) {
			return errors.Join(f.Chmod(mode), own(p, who))
		}
		return nil
	})
	return f, err
}

// openFile opens a regular file for reading.
func openFile(m machine, name string) (f *os.File, info fs.FileInfo, err error) {
	err = m.do(func() error {
		if f, err = os.OpenFile(m.path(name), os.O_RDONLY|openNonblock, 0); err != nil {
			return err
		}
		info, err = f.Stat()
		return err
	})
	if err == nil && !info.Mode().IsRegular() {
		f.Close()
		err = fmt.Errorf("%s: not a regular file", name)
	}
	return f, info, err
}

type fileDTO struct {
	Name        string `json:"name"`
	Path        string `json:"path,omitempty"`
	IsDir       bool   `json:"isDir"`
	Size        int64  `json:"size"`
	Mode        string `json:"mode"`
	Permissions string `json:"permissions"`
	Owner       string `json:"owner"`
	Group       string `json:"group"`
	ModTime     string `json:"modTime"`
	ModifiedAt  string `json:"modifiedAt"`
}

func describeFile(name string, info fs.FileInfo) fileDTO {
	uid, gid := ownerOf(info)
	return fileDTO{
		Name: info.Name(), Path: name, IsDir: info.IsDir(), Size: info.Size(), Mode: info.Mode().String(),
		Permissions: fmt.Sprintf("%04o", info.Mode().Perm()), Owner: strconv.Itoa(uid), Group: strconv.Itoa(gid),
		ModTime: info.ModTime().String(), ModifiedAt: stamp(info.ModTime()),
	}
}

// failFile says why a file can't be had; servers of version 0.190 leave it at the status.
func (d *daemon) failFile(w http.ResponseWriter, r *http.Request, err error) {
	status, code := fileStatus(err)
	if d.srv.cfg.V190 {
		w.WriteHeader(status)
		return
	}
	d.fail(w, r, status, code, err.Error())
}

func fileStatus(err error) (int, string) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 404, "FILE_NOT_FOUND"
	case errors.Is(err, fs.ErrPermission):
		return 403, "FILE_ACCESS_DENIED"
	case errors.Is(err, fs.ErrExist):
		return 409, ""
	}
	return 400, ""
}

// param reads a path from the query and answers the request itself when it is missing.
func (d *daemon) param(w http.ResponseWriter, r *http.Request, name string) (string, bool) {
	p := r.URL.Query().Get(name)
	if p == "" {
		d.fail(w, r, 400, "", name+" is required")
		return "", false
	}
	return d.abs(p), true
}
