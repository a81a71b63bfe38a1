//go:build !remotebox_runner

package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// treeState identifies what decides a discovery: names, sizes and times of the files below root
// that a build may read, and of those in dirs. It reads no file.
func treeState(root string, dirs []string) (string, error) {
	h := sha256.New()
	note := func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s\x00%d\x00%d\n", path, info.Size(), info.ModTime().UnixNano())
		return nil
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if !d.IsDir() {
			if isGo(name) {
				return note(path, d)
			}
			return nil
		}
		// What ./... leaves out as well, and what can't hold packages of this module.
		if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules") {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if isGo(e.Name()) && !e.IsDir() {
				if err := note(filepath.Join(dir, e.Name()), e); err != nil {
					return "", err
				}
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
