//go:build !remotebox_runner

package build

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keptDiscovery is a discovery in the cache, and the state of the tree that it holds for.
type keptDiscovery struct {
	State string
	Found *discovery
}

func discoveryFile(g *goCommand, src Source) string {
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%q\x00%s\x00%q\x00%s", g.dir, g.extra(src.Package), g.linkFlags(), g.settings["GOFLAGS"], g.env, g.version))
	return filepath.Join(discoveredDir, hex.EncodeToString(key[:]))
}

// discovered is the answer for this tree, if nothing that decides it has changed since.
func (c *cache) discovered(g *goCommand, src Source) (*discovery, bool) {
	var k keptDiscovery
	b, err := os.ReadFile(filepath.Join(c.dir, discoveryFile(g, src)))
	if err != nil || json.Unmarshal(b, &k) != nil || k.Found == nil {
		return nil, false
	}
	state, err := treeState(g.dir, k.Found.Dirs, g.modInputs)
	if err != nil || state != k.State {
		return nil, false
	}
	touch(filepath.Join(c.dir, discoveryFile(g, src)))
	return k.Found, true
}

func (c *cache) keepDiscovered(g *goCommand, src Source, d *discovery) {
	state, err := treeState(g.dir, d.Dirs, g.modInputs)
	if err != nil {
		return
	}
	if b, err := json.Marshal(keptDiscovery{state, d}); err == nil {
		c.write(discoveryFile(g, src), b) // a cache that can't be written is only slow
	}
}

// treeState identifies what decides a discovery: names, sizes and times of the files below root
// that a build may read, of those in dirs, and of the given files. It reads no file.
func treeState(root string, dirs, files []string) (string, error) {
	h := sha256.New()
	note := func(path string) {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(h, "%s\x00%d\x00%d\n", path, info.Size(), info.ModTime().UnixNano())
		} else {
			fmt.Fprintf(h, "%s can't be read\n", path)
		}
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real // a link would not be walked
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil && path != root {
			note(path) // such as another user's data
			return nil
		}
		if err != nil {
			return err
		}
		name := d.Name()
		if !d.IsDir() {
			if isSource(name) {
				note(path)
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
			if isSource(e.Name()) {
				note(filepath.Join(dir, e.Name()))
			}
		}
	}
	for _, file := range files {
		note(file)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// isSource reports whether a file of this name can decide which packages there are and what they
// register.
func isSource(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".s", ".c", ".h", ".cc", ".cpp", ".mod", ".sum", ".work":
		return true
	}
	return name == "modules.txt"
}
