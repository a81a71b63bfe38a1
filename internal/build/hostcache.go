//go:build !remotebox_runner

package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// programsDir is the part of the cache with host programs: a directory for each query.
const programsDir = "programs"

// hostInputs are the files that decide what host programs are built.
type hostInputs struct {
	Roots []string // directories of the modules that are worked on
	Dirs  []string // directories of packages elsewhere that may change
	Files []string // embedded files, directories with such, and files of modules and workspaces
}

func newHostInputs(g *goCommand) *hostInputs {
	in := &hostInputs{Files: slices.Clone(g.modInputs)}
	if f := g.moduleFile(); f != "" {
		in.Files = append(in.Files, f)
	}
	return in
}

func (in *hostInputs) addPackage(p *hostPackage) {
	if p.Module == nil || !p.Module.Main {
		in.Dirs = append(in.Dirs, p.Dir)
	}
	for _, name := range p.EmbedFiles {
		file := filepath.Join(p.Dir, filepath.FromSlash(name))
		// A directory's time says whether another file has come.
		for in.Files = append(in.Files, file); len(file) > len(p.Dir); {
			file = filepath.Dir(file)
			in.Files = append(in.Files, file)
		}
	}
}

// state identifies the inputs as they are now.
func (in *hostInputs) state() (string, error) {
	slices.Sort(in.Files)
	dirs, files := in.Dirs, slices.Compact(in.Files)
	h := sha256.New()
	for _, root := range in.Roots {
		s, err := treeState(root, dirs, files)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, s)
		dirs, files = nil, nil
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// keptPrograms is a query's answer in the cache.
type keptPrograms struct {
	State  string
	Inputs *hostInputs
	Found  *Found
}

const keptFile = "kept.json"

// programsOf is the directory for a query's answers.
func (c *cache) programsOf(g *goCommand, q Query) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n", q.Dir, q.Patterns)
	for _, name := range []string{"CGO_CFLAGS", "CGO_CPPFLAGS", "CGO_CXXFLAGS", "CGO_LDFLAGS", "PKG_CONFIG"} {
		fmt.Fprintf(h, "%s=%s\n", name, os.Getenv(name))
	}
	for _, k := range slices.Sorted(maps.Keys(g.settings)) {
		fmt.Fprintf(h, "%s=%s\n", k, g.settings[k])
	}
	return filepath.Join(c.dir, programsDir, hex.EncodeToString(h.Sum(nil)))
}

// programs is the answer to q, if no input has changed since.
func (c *cache) programs(g *goCommand, q Query) (*Found, bool) {
	var k keptPrograms
	dir := c.programsOf(g, q)
	b, err := os.ReadFile(filepath.Join(dir, keptFile))
	if err != nil || json.Unmarshal(b, &k) != nil || k.Found == nil || k.Inputs == nil || len(k.Inputs.Roots) == 0 {
		return nil, false
	}
	for i := range k.Found.Programs {
		p := &k.Found.Programs[i]
		p.Path = filepath.Join(dir, p.Path)
		if _, err := os.Stat(p.Path); err != nil {
			return nil, false
		}
	}
	if state, err := k.Inputs.state(); err != nil || state != k.State {
		return nil, false
	}
	touch(filepath.Join(dir, keptFile))
	return k.Found, true
}

// keepPrograms moves the programs into the cache, where they are run from, and keeps the answer
// unless something is wrong with it, which may be different next time.
func (c *cache) keepPrograms(g *goCommand, q Query, f *Found, in *hostInputs, state string) error {
	dir := c.programsOf(g, q)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	good := len(f.Broken) == 0 && len(in.Roots) > 0
	kept := *f
	kept.Programs = nil
	stamp := strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.Itoa(os.Getpid())
	for i := range f.Programs {
		p := &f.Programs[i]
		if p.Path == "" {
			good = false
			continue
		}
		name := fmt.Sprintf("%s-%d", stamp, i)
		if err := os.Rename(p.Path, filepath.Join(dir, name)); err != nil {
			return err
		}
		p.Path = filepath.Join(dir, name)
		k := *p
		k.Path = name
		kept.Programs = append(kept.Programs, k)
	}
	c.pruneProgramsBut(dir, stamp)
	name := filepath.Join(dir, keptFile)
	if !good {
		err := os.Remove(name)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	}
	b, err := json.Marshal(keptPrograms{state, in, &kept})
	if err != nil {
		return err
	}
	return c.write(strings.TrimPrefix(name, c.dir+string(filepath.Separator)), b)
}

// pruneProgramsBut removes what a newer answer stands for, but what somebody may be about to
// start, and the answers to queries that were not asked for long.
func (c *cache) pruneProgramsBut(dir, stamp string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() != keptFile && !strings.HasPrefix(e.Name(), stamp) && time.Since(info.ModTime()) > time.Minute {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	queries, _ := os.ReadDir(filepath.Join(c.dir, programsDir))
	for _, q := range queries {
		old := filepath.Join(c.dir, programsDir, q.Name())
		info, err := os.Stat(filepath.Join(old, keptFile))
		if err != nil {
			info, err = q.Info() // it failed last time
		}
		if err == nil && old != dir && time.Since(info.ModTime()) > unusedFor {
			os.RemoveAll(old)
		}
	}
}
