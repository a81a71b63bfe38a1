//go:build !linux && !remotebox_runner

package jail

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
)

// A Jail can't be made on this system.
type Jail struct{}

// A Change is what happened to a file in a watched directory.
type Change int

const (
	Created Change = iota
	Written
	Removed
	Renamed
	ModeChanged
)

// A Watch can't be made on this system.
type Watch struct{}

func unsupported() error {
	return fmt.Errorf("the E2B test server runs sandboxes on Linux only, not on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func New(Config) (*Jail, error)                                      { return nil, unsupported() }
func WriteBase(string) error                                         { return unsupported() }
func CopyFiles(string, string) error                                 { return unsupported() }
func Owner(fs.FileInfo) (uid, gid uint32)                            { return 0, 0 }
func Chown(string, uint32, uint32) error                             { return unsupported() }
func SetMetadata(string, string, string) error                       { return unsupported() }
func Metadata(string) map[string]string                              { return nil }
func Disk(string) (used, total uint64)                               { return 0, 0 }
func Memory() (used, total, cache uint64)                            { return 0, 0, 0 }
func Resize(*os.File, uint32, uint32) error                          { return unsupported() }
func (j *Jail) Confined() bool                                       { return false }
func (j *Jail) Do(func()) error                                      { return unsupported() }
func (j *Jail) Path(path string) string                              { return path }
func (j *Jail) Env() map[string]string                               { return nil }
func (j *Jail) Dial(int) (net.Conn, error)                           { return nil, unsupported() }
func (j *Jail) Start(Command) (*Process, error)                      { return nil, unsupported() }
func (j *Jail) OpenPTY(cols, rows uint32) (_, _ *os.File, err error) { return nil, nil, unsupported() }
func (j *Jail) NewWatch(root string, recursive bool) (*Watch, error) { return nil, unsupported() }
func (j *Jail) Snapshot(string) error                                { return unsupported() }
func (j *Jail) Freeze() error                                        { return unsupported() }
func (j *Jail) Thaw() error                                          { return unsupported() }
func (j *Jail) Close() error                                         { return nil }
func (w *Watch) Next(report func(name string, change Change)) error  { return unsupported() }
func (w *Watch) Close() error                                        { return nil }
