//go:build !remotebox_runner

package daytonatest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tree is where COPY takes files from: the build context, or another stage.
type tree struct {
	m    machine // nil: the host
	root string
}

func (t tree) do(f func() error) error {
	if t.m == nil {
		return f()
	}
	return t.m.do(f)
}

func (t tree) path(p string) string {
	if t.m == nil {
		return filepath.Join(t.root, filepath.Clean("/"+p))
	}
	return t.m.path(path.Join("/", p))
}

func (t tree) stat(p string) (info fs.FileInfo, err error) {
	err = t.do(func() error {
		info, err = os.Stat(t.path(p))
		return err
	})
	return info, err
}

// glob are the paths that a source of COPY names.
func (t tree) glob(pattern string) (found []string, err error) {
	if !strings.ContainsAny(pattern, "*?[") {
		if _, err := t.stat(pattern); err != nil {
			return nil, fmt.Errorf("COPY failed: file not found in build context or excluded by .dockerignore: stat %s: file does not exist", pattern)
		}
		return []string{pattern}, nil
	}
	err = t.do(func() error {
		matches, err := filepath.Glob(t.path(pattern))
		for _, match := range matches {
			found = append(found, path.Join(path.Dir(pattern), filepath.Base(match)))
		}
		return err
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("COPY failed: no source files were specified")
	}
	return found, err
}

func (b *build) copy(st *stage, in instruction) error {
	args := in.args()
	if len(args) < 2 {
		return fmt.Errorf("%s requires at least two arguments, but only %d were provided", in.name, len(args))
	}
	for i := range args {
		args[i] = expand(args[i], st.vars)
	}
	from := tree{root: b.context}
	if name, ok := in.flags["from"]; ok {
		other := b.stage(name)
		if other == nil || other == st {
			return fmt.Errorf("pull access denied for %s, repository does not exist", name)
		}
		from = tree{m: other.m}
	}
	who, err := b.srv.account(st.m, in.flags["chown"])
	if err != nil {
		return err
	}
	mode := fs.FileMode(0)
	if text := in.flags["chmod"]; text != "" {
		n, err := strconv.ParseUint(text, 8, 32)
		if err != nil {
			return fmt.Errorf("invalid chmod parameter: '%s'", text)
		}
		mode = fs.FileMode(n)
	}
	dst := args[len(args)-1]
	target := inDir(st.workdir(), dst)
	var sources []string
	for _, pattern := range args[:len(args)-1] {
		found, err := from.glob(pattern)
		if err != nil {
			return err
		}
		sources = append(sources, found...)
	}
	c := copier{from: from, to: st.m, who: who, mode: mode}
	for _, src := range sources {
		info, err := from.stat(src)
		if err != nil {
			return err
		}
		at := target
		if !info.IsDir() && (strings.HasSuffix(dst, "/") || dst == "." || len(sources) > 1 || c.isDir(target)) {
			at = path.Join(target, path.Base(src))
		}
		if err := c.copy(src, at); err != nil {
			return err
		}
	}
	return nil
}

type copier struct {
	from tree
	to   machine
	who  account
	mode fs.FileMode
}

func (c copier) isDir(p string) bool {
	is := false
	_ = c.to.do(func() error {
		info, err := os.Stat(c.to.path(p))
		is = err == nil && info.IsDir()
		return nil
	})
	return is
}

// copy copies a file, or what is in a directory.
func (c copier) copy(src, dst string) error {
	info, err := c.from.stat(src)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return c.file(src, dst, info)
	}
	if err := makeDirs(c.to, c.who, dst, 0o755); err != nil {
		return err
	}
	var names []string
	err = c.from.do(func() error {
		entries, err := os.ReadDir(c.from.path(src))
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if err := c.copy(path.Join(src, name), path.Join(dst, name)); err != nil {
			return err
		}
	}
	return nil
}

func (c copier) file(src, dst string, info fs.FileInfo) error {
	var in *os.File
	err := c.from.do(func() (err error) {
		in, err = os.OpenFile(c.from.path(src), os.O_RDONLY|openNonblock, 0)
		return err
	})
	if err != nil {
		return err
	}
	defer in.Close()
	if err := makeDirs(c.to, account{}, path.Dir(dst), 0o755); err != nil {
		return err
	}
	mode := info.Mode().Perm()
	if c.mode != 0 {
		mode = c.mode
	}
	out, err := createFile(c.to, c.who, dst, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(mode), out.Close())
}
