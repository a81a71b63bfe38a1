//go:build !remotebox_runner

// Package owndir makes directories that nobody but this user can put things into, also where
// everybody may make some of that name first: what is found there may be trusted, and run.
package owndir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Modes that others may not have.
const (
	private  fs.FileMode = 0o077
	writable fs.FileMode = 0o022
)

// Temp is the directory for temporary things of this user alone, made if needed: the directory
// for temporary files is everybody's.
func Temp() (string, error) {
	dir := filepath.Join(os.TempDir(), "remote-box-"+strconv.Itoa(os.Getuid()))
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("making a place for temporary things: %w", err)
		}
		info, err = os.Lstat(dir)
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() || !ours(info, private) {
		return "", fmt.Errorf("%s is not a directory of this user alone; remove it, or set TMPDIR to a directory of your own", dir)
	}
	return dir, nil
}

// Make makes dir if needed, and makes sure that it is this user's and that nobody else may write
// to it. It may be a link that this user made.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	link, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !ours(link, 0) || !ours(info, writable) {
		return fmt.Errorf("%s is not a directory that only this user may write to (if it is yours: chmod go-w)", dir)
	}
	return nil
}
