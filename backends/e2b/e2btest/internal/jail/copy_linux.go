//go:build !remotebox_runner

package jail

import (
	"fmt"
	"os"
	"os/exec"
)

// CopyFiles copies the content of the directory from into to, with modes,
// owners, links, and the marks of deleted files that overlays keep in devices
// and extended attributes. Only the host's cp knows all of them.
func CopyFiles(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	out, err := exec.Command("cp", "-a", "--", from+"/.", to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("copy %s: %w: %s", from, err, out)
	}
	return nil
}
