package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/remote-box/remote/driver"
	"github.com/remote-box/remote/imagehash"
	"github.com/remote-box/remote/internal/hostmode"
)

// explain says what is different in an image from what the lock says of it.
func (l *lockFile) explain(i *hostmode.Image) []string {
	o, ok := l.old.Find(i.Program, i.Backend, i.Prefix)
	switch {
	case !ok:
		return []string{"not in the lock before"}
	case o.Image == i.Image:
		return []string{"the same as in the lock"}
	}
	changes := []string{"in the lock: " + o.Image}
	was, wasFiles := divide(o.Parts)
	is, isFiles := divide(i.Parts)
	files := imagehash.Diff(wasFiles, isFiles)
	for _, p := range merged(was, is) {
		before, had := value(was, p)
		after, has := value(is, p)
		switch {
		case p == "context" && len(files) > 0 && had && has:
			// its files say it better
		case !had:
			changes = append(changes, fmt.Sprintf("%s: added, %s", p, readable(after)))
		case !has:
			changes = append(changes, fmt.Sprintf("%s: removed, was %s", p, readable(before)))
		case before == after:
		case readable(before) == before && readable(after) == after:
			changes = append(changes, fmt.Sprintf("%s: %s, was %s", p, quoted(after), quoted(before)))
		default:
			changes = append(changes, p+": changed")
		}
	}
	for _, f := range files {
		changes = append(changes, "file "+f.String())
	}
	if len(changes) == 1 {
		changes = append(changes, "the lock does not say what that was made of")
	}
	return changes
}

const filePart = "file "

// divide separates the parts of an image from the files of its build context.
func divide(parts []driver.Part) (rest []driver.Part, files imagehash.Summary) {
	for _, p := range parts {
		path, isFile := strings.CutPrefix(p.Name, filePart)
		kind, sum, ok := strings.Cut(p.Value, " ")
		if isFile && ok && len(kind) == 1 {
			files = append(files, imagehash.Line{Kind: kind[0], Sum: sum, Path: path})
		} else {
			rest = append(rest, p)
		}
	}
	return rest, files
}

// merged are the names of the parts of both, in order.
func merged(was, is []driver.Part) []string {
	var names []string
	for _, p := range slices.Concat(is, was) {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

func value(parts []driver.Part, name string) (string, bool) {
	i := slices.IndexFunc(parts, func(p driver.Part) bool { return p.Name == name })
	if i < 0 {
		return "", false
	}
	return parts[i].Value, true
}

// readable is a value as people read it: of a digest the beginning.
func readable(v string) string {
	_, hex, ok := strings.Cut(v, ":")
	if !ok {
		hex = v
	}
	if len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == "" {
		return strings.TrimSuffix(v, hex) + hex[:12]
	}
	return v
}

func quoted(v string) string {
	if v == "" || strings.ContainsAny(v, " \t\n") {
		return fmt.Sprintf("%q", v)
	}
	return v
}
