//go:build !remotebox_runner

package daytonatest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strconv"
)

func (d *daemon) listFiles(w http.ResponseWriter, r *http.Request) {
	root := d.workdir
	if p := r.URL.Query().Get("path"); p != "" {
		root = d.abs(p)
	}
	depth := 1
	if text := r.URL.Query().Get("depth"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			d.fail(w, r, 400, "", "depth must be at least 1")
			return
		}
		depth = n
	}
	out := []fileDTO{}
	err := d.m.do(func() error { return d.list(&out, root, depth) })
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	writeJSON(w, 200, out)
}

// list adds what is in dir. It runs where the files are.
func (d *daemon) list(out *[]fileDTO, dir string, depth int) error {
	entries, err := os.ReadDir(d.m.path(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		info, err := os.Stat(d.m.path(name))
		if err != nil {
			if info, err = e.Info(); err != nil {
				continue // gone meanwhile
			}
		}
		*out = append(*out, describeFile(name, info))
		if e.IsDir() && depth > 1 {
			if err := d.list(out, name, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *daemon) fileInfo(w http.ResponseWriter, r *http.Request) {
	name, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	var dto fileDTO
	err := d.m.do(func() error {
		info, err := os.Stat(d.m.path(name))
		if err == nil {
			dto = describeFile(name, info)
		}
		return err
	})
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	writeJSON(w, 200, dto)
}

func (d *daemon) createFolder(w http.ResponseWriter, r *http.Request) {
	name, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	mode, err := strconv.ParseUint(cmp.Or(r.URL.Query().Get("mode"), "0755"), 8, 32)
	if err != nil {
		d.fail(w, r, 400, "", "invalid mode")
		return
	}
	if err := makeDirs(d.m, d.who, name, fs.FileMode(mode)); err != nil {
		d.failFile(w, r, err)
		return
	}
	w.WriteHeader(201)
}

func (d *daemon) deleteFile(w http.ResponseWriter, r *http.Request) {
	name, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	err := d.m.do(func() error {
		info, err := os.Lstat(d.m.path(name))
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return os.Remove(d.m.path(name))
		}
		if r.URL.Query().Get("recursive") != "true" {
			return errors.New("cannot delete directory without recursive flag")
		}
		return os.RemoveAll(d.m.path(name))
	})
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	w.WriteHeader(204)
}

func (d *daemon) moveFile(w http.ResponseWriter, r *http.Request) {
	from, ok := d.param(w, r, "source")
	if !ok {
		return
	}
	to, ok := d.param(w, r, "destination")
	if !ok {
		return
	}
	err := d.m.do(func() error {
		if _, err := os.Stat(d.m.path(from)); err != nil {
			return err
		}
		if _, err := os.Lstat(d.m.path(to)); err == nil {
			return fmt.Errorf("destination %s: %w", to, fs.ErrExist)
		}
		return os.Rename(d.m.path(from), d.m.path(to))
	})
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	w.WriteHeader(200)
}

func (d *daemon) setPermissions(w http.ResponseWriter, r *http.Request) {
	name, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	q := r.URL.Query()
	owner, err := d.srv.account(d.m, q.Get("owner"))
	if err != nil {
		d.fail(w, r, 400, "", err.Error())
		return
	}
	err = d.m.do(func() error {
		if text := q.Get("mode"); text != "" {
			mode, err := strconv.ParseUint(text, 8, 32)
			if err != nil {
				return errors.New("invalid mode format")
			}
			if err := os.Chmod(d.m.path(name), fs.FileMode(mode)); err != nil {
				return err
			}
		}
		if q.Get("owner") != "" && d.srv.system.isolated() {
			return os.Chown(d.m.path(name), int(owner.uid), int(owner.gid))
		}
		return nil
	})
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	w.WriteHeader(200)
}
