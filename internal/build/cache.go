//go:build !remotebox_runner

package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/remote-box/remote/internal/owndir"
)

// cache keeps runners under the digests of their content. Several processes may use it at once:
// whatever is in it was renamed there whole. An entry is read in full before it is used, which
// costs milliseconds beside a build's hundreds: one that is damaged is built again.
type cache struct {
	dir string
}

// Parts of the cache.
const (
	runnersDir    = "runners"    // runners, by digest
	linksDir      = "links"      // digests of runners, by what they were linked from
	discoveredDir = "discovered" // what modules register
	workDirs      = "work-"      // directories of builds under way
)

// unusedFor is when a runner that nobody asked for is removed, abandonedFor the same for the
// working directory of a build that was killed.
const (
	unusedFor    = 14 * 24 * time.Hour
	abandonedFor = 24 * time.Hour
)

// openCache opens the cache in REMOTE_BOX_CACHE or the user's cache directory. What is in it is
// run: nobody else may have made it, or be able to write to it.
func openCache() (*cache, error) {
	dir, err := cacheDir()
	if err != nil {
		return nil, fmt.Errorf("making the cache: %w; or set REMOTE_BOX_CACHE to one", err)
	}
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("REMOTE_BOX_CACHE: %q is not an absolute path", dir)
	}
	c := &cache{dir}
	for _, sub := range []string{"", runnersDir, linksDir, discoveredDir, programsDir} {
		if err := owndir.Make(filepath.Join(dir, sub)); err != nil {
			return nil, fmt.Errorf("making the cache: %w; set REMOTE_BOX_CACHE to a directory of your own", err)
		}
	}
	return c, nil
}

func cacheDir() (string, error) {
	if dir := os.Getenv("REMOTE_BOX_CACHE"); dir != "" {
		return dir, nil
	}
	if user, err := os.UserCacheDir(); err == nil {
		return filepath.Join(user, "remote-box"), nil
	}
	temp, err := owndir.Temp() // where there is no home
	return filepath.Join(temp, "cache"), err
}

// workDir makes a directory for one build. It is in the cache so that what was built can be
// renamed into place: a runner that this process wrote itself could be busy when it is started,
// because a child of another thread may still hold it open for writing.
func (c *cache) workDir() (string, error) { return os.MkdirTemp(c.dir, workDirs) }

func (c *cache) runner(digest string) string { return filepath.Join(c.dir, runnersDir, digest) }

// linked finds the runner that was linked under key.
func (c *cache) linked(key string) (*Runner, bool) {
	link := filepath.Join(c.dir, linksDir, key)
	b, err := os.ReadFile(link)
	if err != nil {
		return nil, false
	}
	digest := strings.TrimSpace(string(b))
	r := &Runner{Path: c.runner(digest), Digest: digest}
	if is, err := FileDigest(r.Path); err != nil || is != digest {
		return nil, false
	}
	touch(r.Path)
	touch(link)
	return r, true
}

// Use notes that r is still used, so that it is kept, and reports whether it still exists: the
// cache may have been cleared meanwhile.
func (r *Runner) Use() bool { return touch(r.Path) }

// touch makes a file's time of modification that of its last use, to the day.
func touch(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if now := time.Now(); now.Sub(info.ModTime()) > 24*time.Hour {
		os.Chtimes(path, now, now)
	}
	return true
}

// add moves the binary at path into the cache. One of the same content is replaced: it may be
// damaged, and who runs it keeps it.
func (c *cache) add(key, path string) (*Runner, error) {
	digest, err := FileDigest(path)
	if err != nil {
		return nil, err
	}
	r := &Runner{Path: c.runner(digest), Digest: digest}
	if err := errors.Join(os.Chmod(path, 0o500), os.Rename(path, r.Path)); err != nil {
		return nil, err
	}
	if err := c.write(filepath.Join(linksDir, key), []byte(digest)); err != nil {
		return nil, err
	}
	c.prune()
	return r, nil
}

// write writes a file of the cache so that nobody sees half of it.
func (c *cache) write(name string, data []byte) error {
	tmp, err := os.CreateTemp(c.dir, workDirs)
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

// prune removes what was not used for long, and what killed builds left behind.
func (c *cache) prune() {
	for _, sub := range []string{runnersDir, linksDir, discoveredDir} {
		entries, _ := os.ReadDir(filepath.Join(c.dir, sub))
		for _, e := range entries {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unusedFor {
				os.Remove(filepath.Join(c.dir, sub, e.Name()))
			}
		}
	}
	entries, _ := os.ReadDir(c.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), workDirs) && time.Since(info.ModTime()) > abandonedFor {
			os.RemoveAll(filepath.Join(c.dir, e.Name()))
		}
	}
}
