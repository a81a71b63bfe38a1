//go:build !unix && !remotebox_runner

package local

import "io/fs"

func ownedByUs(fs.FileInfo) bool { return true }
