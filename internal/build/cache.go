//go:build !remotebox_runner

package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cache keeps runners under the digests of their content. Several processes may use it at once:
// whatever is in it was renamed there whole, and is never changed.
type cache struct {
	dir string
}

// unusedFor is when a runner that nobody asked for is removed.
const unusedFor = 14 * 24 * time.Hour

// openCache opens the cache in REMOTE_BOX_CACHE or the user's cache directory.
func openCache() (*cache, error) {
	dir := os.Getenv("REMOTE_BOX_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			user = filepath.Join(os.TempDir(), "remote-box-cache-"+strconv.Itoa(os.Getuid()))
		}
		dir = filepath.Join(user, "remote-box")
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("REMOTE_BOX_CACHE: %q is not an absolute path", dir)
	}
	c := &cache{dir}
	for _, sub := range []string{"runners", "links", "discovered"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("making the cache: %w; set REMOTE_BOX_CACHE to a directory that can be written to", err)
		}
	}
	return c, nil
}

func (c *cache) runner(digest string) string { return filepath.Join(c.dir, "runners", digest) }

// linked finds the runner that was linked under key.
func (c *cache) linked(key string) (*Runner, bool) {
	link := filepath.Join(c.dir, "links", key)
	b, err := os.ReadFile(link)
	if err != nil {
		return nil, false
	}
	digest := strings.TrimSpace(string(b))
	r := &Runner{Path: c.runner(digest), Digest: digest}
	info, err := os.Stat(r.Path)
	if err != nil || info.Size() == 0 {
		return nil, false
	}
	if now := time.Now(); now.Sub(info.ModTime()) > 24*time.Hour {
		os.Chtimes(r.Path, now, now)
		os.Chtimes(link, now, now)
	}
	return r, true
}

// add moves the binary at path into the cache.
func (c *cache) add(key, path string) (*Runner, error) {
	digest, err := fileDigest(path)
	if err != nil {
		return nil, err
	}
	r := &Runner{Path: c.runner(digest), Digest: digest}
	if _, err := os.Stat(r.Path); err != nil {
		if err := moveFile(path, r.Path); err != nil {
			return nil, err
		}
	}
	if err := c.write(filepath.Join("links", key), []byte(digest)); err != nil {
		return nil, err
	}
	c.prune()
	return r, nil
}

// write writes a file of the cache so that nobody sees half of it.
func (c *cache) write(name string, data []byte) error {
	tmp, err := os.CreateTemp(c.dir, "tmp-")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err := errors.Join(err, tmp.Close()); err != nil {
		os.Remove(tmp.Name())
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(c.dir, name))
}

// prune removes what was not used for long.
func (c *cache) prune() {
	for _, sub := range []string{"runners", "links", "discovered"} {
		entries, _ := os.ReadDir(filepath.Join(c.dir, sub))
		for _, e := range entries {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unusedFor {
				os.Remove(filepath.Join(c.dir, sub, e.Name()))
			}
		}
	}
}

// moveFile moves an executable, by copying where the directories are on different file systems.
func moveFile(from, to string) error {
	if err := os.Chmod(from, 0o500); err != nil {
		return err
	}
	if os.Rename(from, to) == nil {
		return nil
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	tmp := to + ".tmp" + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(tmp, b, 0o500); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}
