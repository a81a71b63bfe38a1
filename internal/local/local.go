//go:build !remotebox_runner

// Package local is the sandbox that needs nothing: a private directory and processes of this
// host. Package backends/subprocess is its public face; the root package uses it by default.
//
// It keeps functions apart, not attackers: a function runs as the user that runs the program.
package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/owndir"
	"github.com/remote-box/remote/internal/rand"
)

// Name is the backend's name.
const Name = "subprocess"

// Config configures the sandboxes.
type Config struct {
	Dir        string            // working directory; a private one when empty
	Env        map[string]string // added to the environment
	InheritEnv bool              // pass on the whole environment of this program
	Build      driver.Build
}

// Start makes a sandbox.
func Start(ctx context.Context, c Config, spec driver.Spec) (_ driver.Sandbox, err error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	runner, err := spec.Program.Runner(ctx, c.target())
	if err != nil {
		return nil, err
	}
	base, err := owndir.Temp()
	if err != nil {
		return nil, err
	}
	sweep(base)
	s := &Sandbox{config: c, runner: runner, id: newID(), once: spec.Once}
	s.dir = filepath.Join(base, s.id)
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	if s.owned, err = own(s.dir); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	defer func() {
		if err != nil {
			s.disown()
			err = errors.Join(err, os.RemoveAll(s.dir))
		}
	}()
	if c.Dir == "" && !s.once {
		if err := os.Mkdir(s.workDir(), 0o700); err != nil {
			return nil, err
		}
	}
	if !spec.Once {
		if err := s.label(spec.Labels); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// label writes down whose sandbox it is, for whoever finds the directory.
func (s *Sandbox) label(labels map[string]string) error {
	b, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, "labels.json"), b, 0o600)
}

// Attach finds a sandbox that another process, or this one, has started.
func Attach(ctx context.Context, c Config, id string, spec driver.Spec) (driver.Sandbox, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	base, err := owndir.Temp()
	if err != nil {
		return nil, err
	}
	// The id comes from a ref that anybody may have written.
	if !validID(id) {
		return nil, fmt.Errorf("%q is not the id of a %s sandbox", id, Name)
	}
	s := &Sandbox{config: c, id: id, dir: filepath.Join(base, id)}
	if info, err := os.Lstat(s.dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: there is no directory %s", driver.ErrSandboxGone, s.dir)
	}
	if s.runner, err = spec.Program.Runner(ctx, c.target()); err != nil {
		return nil, err
	}
	if err := s.Resume(ctx); err != nil {
		s.disown()
		return nil, err
	}
	return s, nil
}

func (c *Config) target() driver.Target {
	return driver.Target{OS: runtime.GOOS, Arch: runtime.GOARCH, Build: c.Build, Host: true}
}

func (c *Config) check() error {
	if runtime.GOOS == "windows" {
		return errors.New("the subprocess backend does not run on Windows; give the function another one with remote.On, or run the program in WSL")
	}
	if c.Dir != "" {
		if !filepath.IsAbs(c.Dir) {
			return fmt.Errorf("subprocess.Backend.Dir: %q is not an absolute path", c.Dir)
		}
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return fmt.Errorf("subprocess.Backend.Dir: %q is not a directory; make it first", c.Dir)
		}
	}
	return driver.CheckEnv("subprocess.Backend.Env", c.Env)
}

// newID names a sandbox after the process that makes it.
func newID() string { return "p" + strconv.Itoa(os.Getpid()) + "x" + rand.Text(16) }

func validID(id string) bool {
	pid, rest, ok := strings.Cut(strings.TrimPrefix(id, "p"), "x")
	_, err := strconv.ParseUint(pid, 10, 32)
	return ok && err == nil && len(rest) == 16 && strings.Trim(rest, rand.Alphabet) == ""
}

// Names in a sandbox's directory.
const (
	workName   = "work"   // the functions' working directory
	stateName  = ".state" // ends the name of the state directory of a single call's sandbox
	pausedFile = "paused" // the sandbox waits to be resumed; its age counts
)

// Ages at which a sweep removes what nobody owns.
const (
	sweepEvery  = 10 * time.Minute
	pausedLimit = 7 * 24 * time.Hour
	youngLimit  = time.Minute // it may be about to be owned
)
