//go:build !linux

package runner

import "os"

// executable is this program's file.
func executable() (string, error) { return os.Executable() }
