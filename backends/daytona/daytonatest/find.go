//go:build !remotebox_runner

package daytonatest

import (
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// walk calls f for each regular file below root, where the files are.
func (d *daemon) walk(root string, f func(name string) error) error {
	return d.m.do(func() error {
		real := d.m.path(root)
		return filepath.WalkDir(real, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				if p == real {
					return err
				}
				return nil // what can't be read is not searched
			}
			if e.IsDir() && !e.Type().IsRegular() && strings.HasPrefix(e.Name(), ".") && p != real {
				return fs.SkipDir
			}
			return f(path.Join(root, strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(p, real)), "/")))
		})
	})
}

func (d *daemon) findInFiles(w http.ResponseWriter, r *http.Request) {
	root, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	type match struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Content string `json:"content"`
	}
	found := []match{}
	pattern := r.URL.Query().Get("pattern")
	err := d.walk(root, func(name string) error {
		info, err := os.Stat(d.m.path(name))
		if err != nil || !info.Mode().IsRegular() || info.Size() > 10<<20 {
			return nil
		}
		data, err := os.ReadFile(d.m.path(name))
		if err != nil {
			return nil
		}
		for i, line := range strings.Split(string(data), "\n") {
			if strings.Contains(line, pattern) {
				found = append(found, match{name, i + 1, line})
			}
		}
		return nil
	})
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	writeJSON(w, 200, found)
}

func (d *daemon) searchFiles(w http.ResponseWriter, r *http.Request) {
	root, ok := d.param(w, r, "path")
	if !ok {
		return
	}
	found := []string{}
	pattern := r.URL.Query().Get("pattern")
	err := d.walk(root, func(name string) error {
		if ok, err := path.Match(pattern, path.Base(name)); err != nil {
			return err
		} else if ok {
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		d.failFile(w, r, err)
		return
	}
	writeJSON(w, 200, map[string]any{"files": found})
}

func (d *daemon) replaceInFiles(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Files    []string `json:"files"`
		Pattern  string   `json:"pattern"`
		NewValue string   `json:"newValue"`
	}
	if err := readJSON(w, r, &req); err != nil || req.Pattern == "" {
		d.fail(w, r, 400, "INVALID_REQUEST_BODY", "files and pattern are required")
		return
	}
	type result struct {
		File    string `json:"file"`
		Success bool   `json:"success"`
		Error   string `json:"error,omitempty"`
	}
	results := []result{}
	for _, file := range req.Files {
		name := d.abs(file)
		err := d.m.do(func() error {
			info, err := os.Stat(d.m.path(name))
			if err != nil {
				return err
			}
			data, err := os.ReadFile(d.m.path(name))
			if err != nil {
				return err
			}
			return os.WriteFile(d.m.path(name), []byte(strings.ReplaceAll(string(data), req.Pattern, req.NewValue)), info.Mode().Perm())
		})
		res := result{File: file, Success: err == nil}
		if err != nil {
			res.Error = err.Error()
		}
		results = append(results, res)
	}
	writeJSON(w, 200, results)
}
