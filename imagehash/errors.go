package imagehash

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// ErrSpecial is what an [*EntryError] wraps for a named pipe, a socket or a device.
var ErrSpecial = errors.New("an image holds only files, directories and symlinks")

// EntryError answers "what in the directory cannot be part of an image?": something special (it wraps [ErrSpecial]) or
// something that cannot be read (it wraps the operating system's error). [Walk] joins one for every such path.
type EntryError struct {
	Root string // the context's root
	Path string // slash-separated and relative to Root; "." is the root itself
	Hint string // what to do about it
	Err  error
}

func (e *EntryError) Error() string {
	if e.Path == "." {
		return fmt.Sprintf("imagehash: build context %s: %v; %s", printable(e.Root), bare(e.Err), e.Hint)
	}
	return fmt.Sprintf("imagehash: %s in build context %s: %v; %s", printable(e.Path), printable(e.Root), bare(e.Err), e.Hint)
}

func (e *EntryError) Unwrap() error { return e.Err }

// ChangedError answers "did a file change under us?": between two looks at it while it was hashed, or between the walk and
// an upload. Nothing that was read is wrong on disk; the operation has to be repeated.
type ChangedError struct {
	Root string // the context's root
	Path string // slash-separated and relative to Root
	What string // what is different: "size", "content", "removed", …
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("imagehash: %s in build context %s changed while it was read (%s); try again when nothing writes to it, or exclude it",
		printable(e.Path), printable(e.Root), e.What)
}

// IgnoreError answers "what is wrong with the ignore file?". Docker would either refuse such a file as well, or silently
// send everything.
type IgnoreError struct {
	File    string // the ignore file's path
	Line    int    // 0 if the file could not be read at all
	Pattern string // the pattern, after parsing; empty if Line is 0
	Err     error
}

func (e *IgnoreError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("imagehash: cannot use %s: %v; mend or remove it", printable(e.File), bare(e.Err))
	}
	return fmt.Sprintf("imagehash: %s:%d: pattern %q: %v; mend or remove the line", printable(e.File), e.Line, e.Pattern, e.Err)
}

func (e *IgnoreError) Unwrap() error { return e.Err }

// maxJoined is how many entries an error names. A context on a failing disk has thousands.
const maxJoined = 20

// joinByPath makes one error of many, in an order that does not depend on which worker was first.
func joinByPath(failures map[string]error) error {
	paths := make([]string, 0, len(failures))
	for p := range failures {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var errs []error
	for i, p := range paths {
		if i == maxJoined {
			errs = append(errs, fmt.Errorf("imagehash: and %d more", len(paths)-i))
			break
		}
		errs = append(errs, failures[p])
	}
	return errors.Join(errs...)
}

// bare drops the path from an operating system's error, where the message has it already.
func bare(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return fmt.Errorf("%s: %w", pathErr.Op, pathErr.Err)
	}
	return err
}

// printable is s, quoted if a terminal could not show it as it is.
func printable(s string) string {
	if q := strconv.Quote(s); s == "" || len(q) != len(s)+2 || strings.HasPrefix(s, `"`) {
		return q
	}
	return s
}
