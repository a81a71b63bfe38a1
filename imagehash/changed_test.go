package imagehash

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// mutation is something that another process does to a file while it is read.
type mutation struct {
	name string
	do   func(file string) error
	what []string // any of these names it
}

func mutations() []mutation {
	swap := func(file string, by func(string) error) error {
		if err := by(file + ".new"); err != nil {
			return err
		}
		return os.Rename(file+".new", file)
	}
	return []mutation{
		{"appended to", func(f string) error {
			return appendTo(f, "more")
		}, []string{"size"}},
		{"truncated", func(f string) error { return os.Truncate(f, 1) }, []string{"size"}},
		{"touched", func(f string) error { return os.Chtimes(f, time.Unix(1, 0), time.Unix(1, 0)) }, []string{"modification time"}},
		{"made executable", func(f string) error { return os.Chmod(f, 0o755) }, []string{"mode"}},
		{"removed", os.Remove, []string{"removed"}},
		{"replaced by its like", func(f string) error {
			info, err := os.Stat(f)
			if err != nil {
				return err
			}
			return swap(f, func(n string) error {
				return errors.Join(os.WriteFile(n, []byte(strings.Repeat("x", int(info.Size()))), 0o644), os.Chtimes(n, info.ModTime(), info.ModTime()))
			})
		}, []string{"replaced"}},
		{"replaced by a symlink", func(f string) error { return swap(f, func(n string) error { return os.Symlink("/dev/zero", n) }) }, []string{"kind"}},
		{"replaced by a symlink to its copy", func(f string) error {
			content, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			return swap(f, func(n string) error {
				return errors.Join(os.WriteFile(f+".copy", content, 0o644), os.Symlink(f+".copy", n))
			})
		}, []string{"kind"}},
		{"replaced by a directory", func(f string) error { return errors.Join(os.Remove(f), os.Mkdir(f, 0o755)) }, []string{"kind"}},
		{"its directory removed", func(f string) error { return os.RemoveAll(filepath.Dir(f)) }, []string{"removed"}},
		{"its directory replaced", func(f string) error {
			dir := filepath.Dir(f)
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o644))
		}, []string{"removed"}},
	}
}

func appendTo(name, content string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// moments are when it happens: after the walk has seen the file, and before, while, and after it is read.
func moments() map[string]func(sys *system, mutate func(name string)) {
	return map[string]func(*system, func(string)){
		"before it is opened": func(sys *system, mutate func(string)) {
			open := sys.open
			sys.open = func(name string) (fs.File, error) {
				mutate(name)
				return open(name)
			}
		},
		"while it is read": func(sys *system, mutate func(string)) {
			open := sys.open
			sys.open = func(name string) (fs.File, error) {
				f, err := open(name)
				return &mutatingFile{File: f, then: func() { mutate(name) }}, err
			}
		},
		"when it is read": func(sys *system, mutate func(string)) {
			lstat := sys.lstat
			sys.lstat = func(name string) (fs.FileInfo, error) {
				mutate(name)
				return lstat(name)
			}
		},
	}
}

// mutatingFile does something after the first bytes were read.
type mutatingFile struct {
	fs.File
	then func()
	once sync.Once
}

func (m *mutatingFile) Read(p []byte) (int, error) {
	n, err := m.File.Read(p[:min(len(p), 2)])
	m.once.Do(m.then)
	return n, err
}

func TestFilesThatChangeWhileTheyAreHashed(t *testing.T) {
	for moment, arrange := range moments() {
		for _, m := range mutations() {
			t.Run(moment+" "+m.name, func(t *testing.T) {
				root := lay(t, "d/victim", "other")
				sys := realSystem()
				arrange(&sys, func(name string) {
					if filepath.Base(name) != "victim" {
						return
					}
					if err := m.do(name); err != nil {
						t.Error(err) // not Fatal: this is a worker's goroutine
					}
				})
				tree, err := walk(t.Context(), root, Options{}, sys)
				var changed *ChangedError
				if tree != nil || !errors.As(err, &changed) {
					t.Fatalf("got %v, %v; want a *ChangedError", tree, err)
				}
				if changed.Path != "d/victim" || !slices.Contains(m.what, changed.What) {
					t.Errorf("got %v; want d/victim and %q", err, m.what)
				}
			})
		}
	}
}

// Truncated and put back as it was, between two looks at it.
func TestFileOfWhichNotAllIsRead(t *testing.T) {
	root := lay(t, "d/victim", "other")
	sys := realSystem()
	open := sys.open
	sys.open = func(name string) (fs.File, error) {
		f, err := open(name)
		if filepath.Base(name) != "victim" {
			return f, err
		}
		return &shortFile{File: f, rest: io.LimitReader(f, 3)}, err
	}
	_, err := walk(t.Context(), root, Options{}, sys)
	var changed *ChangedError
	if !errors.As(err, &changed) || changed.Path != "d/victim" || changed.What != "size" {
		t.Errorf("got %v, want a *ChangedError about the size of d/victim", err)
	}
}

type shortFile struct {
	fs.File
	rest io.Reader
}

func (s *shortFile) Read(p []byte) (int, error) { return s.rest.Read(p) }
