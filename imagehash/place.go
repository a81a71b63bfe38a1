package imagehash

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is a context as its errors name it: every part of a walk and of an upload makes its errors here.
type place struct {
	root       string // absolute
	ignoreFile string // the path of the ignore file in use, or empty
}

// abs is where a path of the context is on disk; "" is the root.
func (p place) abs(rel string) string {
	if rel == "" {
		return p.root
	}
	return strings.TrimSuffix(p.root, string(filepath.Separator)) + string(filepath.Separator) + filepath.FromSlash(rel)
}

func (p place) changed(rel, what string) error {
	return &ChangedError{Root: p.root, Path: rel, What: what}
}

// failed makes an [*EntryError] of err.
func (p place) failed(rel string, err error) error {
	if rel == "" {
		rel = "."
	}
	return &EntryError{Root: p.root, Path: rel, Err: err, Hint: p.hint(rel, err)}
}

// hint says what to do about an entry that cannot be part of an image.
func (p place) hint(rel string, err error) string {
	do := "mend it"
	switch {
	case errors.Is(err, ErrSpecial):
		do = "remove it"
	case errors.Is(err, fs.ErrPermission):
		do = "make it readable"
	}
	if rel == "." || strings.ContainsAny(rel, "\r\n") || !utf8.ValidString(rel) {
		return do // no line of an ignore file can name it
	}
	return do + ", or exclude it by the line " + ignoreLine(rel) + " in " + p.ignoreName()
}

// ignoreName is how a user knows the ignore file: the one in use, since no other is read.
func (p place) ignoreName() string {
	if p.ignoreFile == "" {
		return ignoreName
	}
	if rel, err := filepath.Rel(p.root, p.ignoreFile); err == nil && filepath.IsLocal(rel) {
		return printable(filepath.ToSlash(rel))
	}
	return printable(p.ignoreFile)
}

// ignoreLine is the line of an ignore file that excludes rel and what is below, and nothing else.
func ignoreLine(rel string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i, r := range rel {
		end := i == 0 || i+utf8.RuneLen(r) == len(rel)
		switch {
		case end && unicode.IsSpace(r): // would be trimmed
			b.WriteString("[" + string(r) + "]")
		case i == 0 && r == '!', strings.ContainsRune(`\*?[]{}|^`, r): // the slash in front does not keep a "!" from negating
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
