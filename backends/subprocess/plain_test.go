package subprocess_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/remote-box/remote/backends/backendtest"
	"github.com/remote-box/remote/backends/subprocess"
	"github.com/remote-box/remote/driver"
)

// plain hides what a local sandbox can do beyond Exec and files, as for a provider to whose
// processes nobody can talk.
type plain struct{ subprocess.Backend }

func (p plain) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	return hide(p.Backend.Start(ctx, spec))
}

func (p plain) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	return hide(p.Backend.Attach(ctx, id, spec))
}

func hide(sb driver.Sandbox, err error) (driver.Sandbox, error) {
	if err != nil {
		return nil, err
	}
	return plainSandbox{sb, sb.(driver.Pauser), sb.(driver.Local).StateDir()}, nil
}

type plainSandbox struct {
	driver.Sandbox
	pauser driver.Pauser
	state  string
}

func (s plainSandbox) Pause(ctx context.Context) error  { return s.pauser.Pause(ctx) }
func (s plainSandbox) Resume(ctx context.Context) error { return s.pauser.Resume(ctx) }

func (s plainSandbox) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	if cmd.Stdin != nil {
		return driver.Status{}, errors.New("this sandbox has no stdin")
	}
	with := *cmd
	with.Env = append(with.Env, "REMOTE_BOX_STATE="+s.state)
	return s.Sandbox.Exec(ctx, &with)
}

// ReadFile finds results where Exec has had them put.
func (s plainSandbox) ReadFile(_ context.Context, path string) (io.ReadCloser, error) {
	return os.Open(strings.Replace(path, "/tmp/.remote-box-state", s.state, 1))
}

func (s plainSandbox) WriteFile(_ context.Context, path string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// TestConformanceWithoutStreams holds the core to the contract where every call is one Exec.
func TestConformanceWithoutStreams(t *testing.T) {
	backendtest.Run(t, func(testing.TB) backendtest.Config {
		return backendtest.Config{Backend: plain{}, Remove: remove}
	})
}
