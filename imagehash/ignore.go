package imagehash

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// ignoreName is the ignore file of a whole context, and what follows a Dockerfile's name in that of one Dockerfile.
const ignoreName = ".dockerignore"

// ignoreFile is a parsed ignore file. The zero value excludes nothing.
type ignoreFile struct {
	path       string                         // empty if there is none
	matcher    *patternmatcher.PatternMatcher // nil if it has no pattern
	exceptions []exception                    // its "!" lines
}

// readIgnoreFile reads the ignore file of a context: the Dockerfile's own one, even if that is empty, else the root's. It
// differs from BuildKit where BuildKit would send everything without a word: an ignore file that is there but cannot be
// read is an error.
func readIgnoreFile(root string, o Options) (ignoreFile, error) {
	for _, name := range []string{o.dockerfile(root) + ignoreName, filepath.Join(root, ignoreName)} {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		data, err := readRegular(name)
		if err != nil {
			return ignoreFile{}, &IgnoreError{File: name, Err: err}
		}
		return parseIgnoreFile(name, data)
	}
	return ignoreFile{}, nil
}

// readRegular reads a file, following symlinks, but does not wait for what a pipe may say.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a file")
	}
	return os.ReadFile(name)
}

// parseIgnoreFile compiles every pattern at once, so that a bad one is reported whether or not a path would have reached it.
func parseIgnoreFile(name string, data []byte) (ignoreFile, error) {
	patterns, err := ignorefile.ReadAll(bytes.NewReader(data))
	if err != nil {
		return ignoreFile{}, &IgnoreError{File: name, Err: err}
	}
	file := ignoreFile{path: name}
	if len(patterns) == 0 {
		return file, nil
	}
	for i, p := range patterns {
		ex, err := checkPattern(p)
		if err != nil {
			return ignoreFile{}, &IgnoreError{File: name, Line: lineOf(data, i), Pattern: p, Err: err}
		}
		if ex != nil {
			file.exceptions = append(file.exceptions, *ex)
		}
	}
	file.matcher, err = patternmatcher.New(patterns)
	if err != nil {
		return ignoreFile{}, &IgnoreError{File: name, Err: err}
	}
	return file, nil
}

// checkPattern says whether Docker's matcher can work with one pattern, and returns it as an exception if it is one.
func checkPattern(pattern string) (*exception, error) {
	// The matcher would print to stderr about these, and Docker itself would send them mangled.
	if !utf8.ValidString(pattern) || strings.ContainsRune(pattern, 0) {
		return nil, errors.New("not UTF-8 text (UTF-16, perhaps?)")
	}
	m, err := patternmatcher.New([]string{pattern})
	if err != nil {
		return nil, err
	}
	if len(m.Patterns()) == 0 {
		return nil, nil
	}
	p := m.Patterns()[0]
	self, err := newSelfMatcher(p.String())
	if err != nil {
		return nil, err
	}
	if !p.Exclusion() {
		return nil, nil
	}
	ex := newException(filepath.ToSlash(p.String()), self)
	return &ex, nil
}

// lineOf is the line that pattern number i came from. The parser does not say, so it is asked again, a line more each time.
func lineOf(data []byte, i int) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	end := 0
	for n, line := range lines {
		end += len(line)
		if patterns, _ := ignorefile.ReadAll(bytes.NewReader(data[:end])); len(patterns) > i {
			return n + 1
		}
	}
	return len(lines)
}
