//go:build !remotebox_runner

package jail

import (
	"os"
	"path/filepath"
	"slices"
)

// furnish makes the directories of an unconfined jail and copies what its layers
// hold, the lowest first.
func (j *Jail) furnish() error {
	root := filepath.Join(j.cfg.Dir, "root")
	for _, dir := range []string{"home/user", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	for _, layer := range slices.Backward(j.cfg.Layers) {
		if err := CopyFiles(filepath.Join(layer, "root"), root); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot copies the jail's own files, what is above its layers, to the
// directory dir, which can then be a layer. The jail should be frozen.
func (j *Jail) Snapshot(dir string) error {
	for _, part := range []string{"root", "usr"} {
		if err := CopyFiles(filepath.Join(j.cfg.Dir, part), filepath.Join(dir, part)); err != nil {
			return err
		}
	}
	return nil
}

// Env is what the place itself adds to the environment of processes.
func (j *Jail) Env() map[string]string {
	if j.Confined() {
		return nil
	}
	return map[string]string{"TMPDIR": filepath.Join(j.cfg.Dir, "root/tmp")}
}
