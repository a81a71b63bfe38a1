package backendtest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/remote-box/remote/backends/backendtest"
	"github.com/remote-box/remote/backends/subprocess"
	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/internal/wire"
)

// broken is a backend that is right but for one thing.
type broken struct {
	subprocess.Backend
	start   func(context.Context, driver.Spec) (driver.Sandbox, error)
	attach  func(context.Context, string, driver.Spec) (driver.Sandbox, error)
	sandbox func(driver.Sandbox) driver.Sandbox
}

func (b *broken) Start(ctx context.Context, spec driver.Spec) (driver.Sandbox, error) {
	start := b.Backend.Start
	if b.start != nil {
		start = b.start
	}
	return b.wrap(start(ctx, spec))
}

func (b *broken) Attach(ctx context.Context, id string, spec driver.Spec) (driver.Sandbox, error) {
	attach := b.Backend.Attach
	if b.attach != nil {
		attach = b.attach
	}
	return b.wrap(attach(ctx, id, spec))
}

func (b *broken) wrap(sb driver.Sandbox, err error) (driver.Sandbox, error) {
	if err == nil && b.sandbox != nil {
		sb = b.sandbox(sb)
	}
	return sb, err
}

// sandbox is a plain sandbox, made of Exec and files, of which a test replaces some.
type sandbox struct {
	driver.Sandbox
	exec  func(context.Context, *driver.Command) (driver.Status, error)
	close func(context.Context) error
	write func(context.Context, string, io.Reader) error
}

func (s *sandbox) Exec(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	if s.exec != nil {
		return s.exec(ctx, cmd)
	}
	return s.inner(ctx, cmd)
}

func (s *sandbox) inner(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
	with := *cmd
	with.Env = append(slices.Clone(cmd.Env), "REMOTE_BOX_STATE="+s.Sandbox.(driver.Local).StateDir())
	return s.Sandbox.Exec(ctx, &with)
}

func (s *sandbox) Close(ctx context.Context) error {
	if s.close != nil {
		return s.close(ctx)
	}
	return s.Sandbox.Close(ctx)
}

func (s *sandbox) ReadFile(_ context.Context, path string) (io.ReadCloser, error) {
	return os.Open(path)
}

func (s *sandbox) WriteFile(ctx context.Context, path string, r io.Reader) error {
	if s.write != nil {
		return s.write(ctx, path, r)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600))
}

func TestBrokenBackendsFail(t *testing.T) {
	for _, c := range []struct {
		name   string
		clause string // at least this one must notice
		make   func(b *broken)
	}{
		{"exec forgets the exit code", "exec", func(b *broken) {
			b.sandbox = func(sb driver.Sandbox) driver.Sandbox {
				s := &sandbox{Sandbox: sb}
				s.exec = func(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
					_, err := s.inner(ctx, cmd)
					return driver.Status{}, err
				}
				return s
			}
		}},
		{"exec hides the context's error", "exec/canceled", func(b *broken) {
			b.sandbox = func(sb driver.Sandbox) driver.Sandbox {
				s := &sandbox{Sandbox: sb}
				s.exec = func(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
					st, err := s.inner(ctx, cmd)
					if err != nil {
						err = errors.New("killed")
					}
					return st, err
				}
				return s
			}
		}},
		{"exec drops output", "output", func(b *broken) {
			b.sandbox = func(sb driver.Sandbox) driver.Sandbox {
				s := &sandbox{Sandbox: sb}
				s.exec = func(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
					with := *cmd
					with.Stdout = dropOutput(cmd.Stdout)
					return s.inner(ctx, &with)
				}
				return s
			}
		}},
		{"exec loses the environment", "values", func(b *broken) {
			b.sandbox = func(sb driver.Sandbox) driver.Sandbox {
				s := &sandbox{Sandbox: sb}
				s.exec = func(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
					with := *cmd
					with.Env = nil
					return s.inner(ctx, &with)
				}
				return s
			}
		}},
		{"close does nothing", "close", func(b *broken) {
			b.sandbox = func(sb driver.Sandbox) driver.Sandbox {
				return &sandbox{Sandbox: sb, close: func(context.Context) error {
					t.Cleanup(func() { sb.Close(context.Background()) })
					return nil
				}}
			}
		}},
		{"close fails the second time", "close", func(b *broken) {
			b.sandbox = func(sb driver.Sandbox) driver.Sandbox {
				closed := false
				return &sandbox{Sandbox: sb, close: func(ctx context.Context) error {
					if closed {
						return errors.New("closed already")
					}
					closed = true
					return sb.Close(ctx)
				}}
			}
		}},
		{"attach makes a new sandbox", "attach/unknown", func(b *broken) {
			b.attach = func(ctx context.Context, _ string, spec driver.Spec) (driver.Sandbox, error) {
				return b.Backend.Start(ctx, spec)
			}
		}},
		{"large inputs are cut", "large", func(b *broken) {
			b.sandbox = func(sb driver.Sandbox) driver.Sandbox {
				s := &sandbox{Sandbox: sb}
				s.write = func(ctx context.Context, path string, r io.Reader) error {
					cut, err := io.ReadAll(io.LimitReader(r, 1<<20))
					if err != nil {
						return err
					}
					return (&sandbox{Sandbox: sb}).WriteFile(ctx, path, strings.NewReader(string(cut)))
				}
				return s
			}
		}},
		{"sandboxes share their directory", "session/files", func(b *broken) { b.Dir = t.TempDir() }},
		{"start hangs", "fresh/canceled", func(b *broken) {
			b.start = func(context.Context, driver.Spec) (driver.Sandbox, error) {
				<-t.Context().Done()
				return nil, t.Context().Err()
			}
		}},
		{"gone sandboxes are only errors", "session/gone", func(b *broken) {
			b.sandbox = func(sb driver.Sandbox) driver.Sandbox {
				s := &sandbox{Sandbox: sb}
				s.exec = func(ctx context.Context, cmd *driver.Command) (driver.Status, error) {
					st, err := s.inner(ctx, cmd)
					if err != nil {
						err = errors.New("no such directory")
					}
					return st, err
				}
				return s
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			failures := backendtest.Check(t.Context(), func() backendtest.Config {
				b := &broken{}
				c.make(b)
				return backendtest.Config{
					Backend:  b,
					Watchdog: 3 * time.Second,
					Remove: func(_ context.Context, id string) error {
						return os.RemoveAll(filepath.Join(os.TempDir(), "remote-box-"+strconv.Itoa(os.Getuid()), id))
					},
				}
			}, c.clause)
			if len(failures) == 0 {
				t.Errorf("the clause %q holds for a backend that breaks it", c.clause)
			}
			for _, f := range failures {
				t.Logf("noticed: %s", strings.Join(f.Messages, "; "))
			}
		})
	}
}

// dropOutput loses what functions print, and nothing that would tell so.
func dropOutput(w io.Writer) io.Writer {
	var part []byte
	return writer(func(p []byte) (int, error) {
		part = append(part, p...)
		for {
			line, rest, whole := bytes.Cut(part, []byte("\n"))
			if !whole {
				return len(p), nil
			}
			part = rest
			// The third field of a frame is its kind, see package wire.
			if f := bytes.Fields(line); len(f) > 2 && wire.Kind(f[2][0]) == wire.KindStdout || w == nil {
				continue
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return 0, err
			}
		}
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
