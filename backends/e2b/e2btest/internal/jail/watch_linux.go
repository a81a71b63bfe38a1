//go:build !remotebox_runner

package jail

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A Change is what happened to a file in a watched directory.
type Change int

const (
	Created Change = iota
	Written
	Removed
	Renamed
	ModeChanged
)

// A Watch reports what happens in a directory.
type Watch struct {
	jail      *Jail
	file      *os.File
	root      string
	recursive bool

	mu   sync.Mutex
	dirs map[int32]string // watch descriptor to directory
}

// NewWatch watches root. The caller must Close it.
func (j *Jail) NewWatch(root string, recursive bool) (*Watch, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	w := &Watch{jail: j, file: os.NewFile(uintptr(fd), "inotify"), root: root, recursive: recursive, dirs: make(map[int32]string)}
	if doErr := j.Do(func() { err = w.add(root) }); doErr != nil {
		err = doErr
	}
	if err != nil {
		w.file.Close()
		return nil, err
	}
	return w, nil
}

// Close ends a Next that waits.
func (w *Watch) Close() error { return w.file.Close() }

// add must run in the jail.
func (w *Watch) add(dir string) error {
	const mask = syscall.IN_CREATE | syscall.IN_MODIFY | syscall.IN_DELETE | syscall.IN_MOVED_FROM |
		syscall.IN_MOVED_TO | syscall.IN_ATTRIB | syscall.IN_ONLYDIR
	raw, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	watch := func(dir string) error {
		var number int
		var addErr error
		if err := raw.Control(func(fd uintptr) { number, addErr = syscall.InotifyAddWatch(int(fd), dir, mask) }); err != nil {
			return err
		}
		if addErr != nil {
			return addErr
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.dirs[int32(number)] = dir
		return nil
	}
	if !w.recursive {
		return watch(dir)
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil && path == dir {
			return err
		}
		if err != nil || !d.IsDir() {
			return nil
		}
		return watch(path)
	})
}

// Next waits for events and reports each with the path relative to the root. It
// ends with an error when the watch is closed.
func (w *Watch) Next(report func(name string, change Change)) error {
	buf := make([]byte, 64<<10)
	n, err := w.file.Read(buf)
	if err != nil {
		return err
	}
	for buf = buf[:n]; len(buf) >= syscall.SizeofInotifyEvent; {
		number := int32(binary.NativeEndian.Uint32(buf))
		mask := binary.NativeEndian.Uint32(buf[4:])
		end := syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[12:]))
		base := strings.TrimRight(string(buf[syscall.SizeofInotifyEvent:end]), "\x00")
		buf = buf[end:]
		w.mu.Lock()
		dir, ok := w.dirs[number]
		w.mu.Unlock()
		if !ok || base == "" {
			continue
		}
		path := filepath.Join(dir, base)
		if w.recursive && mask&syscall.IN_ISDIR != 0 && mask&(syscall.IN_CREATE|syscall.IN_MOVED_TO) != 0 {
			w.jail.Do(func() { w.add(path) }) // it may be gone already
		}
		name, err := filepath.Rel(w.root, path)
		if err != nil {
			name = base
		}
		for _, kind := range []struct {
			mask   uint32
			change Change
		}{
			{syscall.IN_CREATE | syscall.IN_MOVED_TO, Created},
			{syscall.IN_MODIFY, Written},
			{syscall.IN_DELETE, Removed},
			{syscall.IN_MOVED_FROM, Renamed},
			{syscall.IN_ATTRIB, ModeChanged},
		} {
			if mask&kind.mask != 0 {
				report(name, kind.change)
			}
		}
	}
	return nil
}
