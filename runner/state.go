package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/remote-box/remote/internal/callproc"
	"github.com/remote-box/remote/internal/rand"
	"github.com/remote-box/remote/internal/wire"
)

// state is the directory in which a runner keeps what must outlive a connection: which call ids
// were accepted, and results until the host has them.
type state string

// openState makes the directory; without the host's choice it is one of this user's own.
func openState() (state, error) {
	st := stateDir()
	dir := string(st)
	for _, sub := range []string{callproc.ClaimDir, callproc.InDir, callproc.OutDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return "", err
		}
	}
	return st, nil
}

// stateDir names the directory.
func stateDir() state {
	dir := take(callproc.EnvState)
	if dir == "" {
		dir = filepath.Join(os.TempDir(), ".remote-box-"+strconv.Itoa(os.Getuid()))
	}
	return state(dir)
}

// claim accepts a call id. false means that it was accepted before: by this process, an earlier
// one or another.
func (s state) claim(id string) (ok bool, f *os.File, err error) {
	f, err = os.OpenFile(s.claimFile(id), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil, nil
	}
	return err == nil, f, err
}

// unclaimed is the outcome of a call that could not be claimed because of err.
func unclaimed(err error) wire.Outcome {
	if errors.Is(err, fs.ErrNotExist) {
		return wire.Gone
	}
	return wire.Unrecorded
}

func (s state) claimFile(id string) string {
	return filepath.Join(string(s), callproc.ClaimDir, id)
}

func (s state) inFile(id string) string {
	return filepath.Join(string(s), callproc.InDir, id)
}

// outputSocket is where a call's output can be listened to while it runs.
func (s state) outputSocket(id string) string { return s.outFile(id) + ".sock" }

func (s state) outFile(id string) string { return callproc.OutFile(string(s), id) }

// instance names the memory of what was accepted: it is the same as long as the directory lasts,
// also when a sandbox's processes do not.
func (s state) instance() (string, error) {
	name := filepath.Join(string(s), "instance")
	if b, err := os.ReadFile(name); err == nil && wire.ValidID(string(b)) {
		return string(b), nil
	}
	id := rand.Text(16)
	return id, os.WriteFile(name, []byte(id), 0o600)
}

// accepted reports whether a call's id has been claimed.
func (s state) accepted(id string) bool {
	_, err := os.Lstat(s.claimFile(id))
	return err == nil
}
