package imagehash

import (
	"io/fs"
	"os"
)

// system is the part of the operating system that a walk sees: tests count its calls, and change files between them.
type system struct {
	readDir func(name string) ([]fs.DirEntry, error)
	lstat   func(name string) (fs.FileInfo, error)
	open    func(name string) (fs.File, error)
}

func realSystem() system {
	return system{
		readDir: os.ReadDir,
		lstat:   os.Lstat,
		open: func(name string) (fs.File, error) {
			return os.OpenFile(name, os.O_RDONLY|openFlags, 0)
		},
	}
}
