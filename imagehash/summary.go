package imagehash

import (
	"fmt"
	"strconv"
	"strings"
)

// Summary is a tree in short: enough to say, long after, what is different in another one. It is sorted by path. As JSON
// it is an array of strings, a line an entry, which reads well in a diff.
type Summary []Line

// Line is one entry of a [Summary]. Its text is the entry's kind in a letter, as in the records that are hashed, the
// beginning of its sum, and its path, quoted as in Go if that is not plain text: "x 0123456789ab bin/run".
type Line struct {
	Kind byte   // 'd' directory, 'f' file, 'x' executable file, 'l' symlink
	Sum  string // the first 12 hexadecimal digits of the entry's sum, or "-"
	Path string
}

// sumDigits is how much of a sum a summary keeps. It explains a difference between two digests; it does not find one.
const sumDigits = 12

// Summary returns the tree in short.
func (t *Tree) Summary() Summary {
	s := make(Summary, 0, len(t.entries))
	for _, e := range t.entries {
		line := Line{Kind: e.letter(), Sum: "-", Path: e.Path}
		if e.Kind != Dir {
			line.Sum = e.Sum.String()[:sumDigits]
		}
		s = append(s, line)
	}
	return s
}

func (l Line) String() string {
	return string(rune(l.Kind)) + " " + l.Sum + " " + printable(l.Path)
}

// MarshalText implements [encoding.TextMarshaler].
func (l Line) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. It accepts what [Line.String] makes of an entry, and nothing else.
func (l *Line) UnmarshalText(text []byte) error {
	kind, rest, _ := strings.Cut(string(text), " ")
	sum, p, _ := strings.Cut(rest, " ")
	if strings.HasPrefix(p, `"`) {
		var err error
		if p, err = strconv.Unquote(p); err != nil {
			return fmt.Errorf("imagehash: summary line %q: path: %w", text, err)
		}
	}
	if len(kind) != 1 || !strings.Contains("dfxl", kind) || (kind == "d") != (sum == "-") || kind != "d" && !isShortSum(sum) || p == "" {
		return fmt.Errorf("imagehash: summary line %q: want a kind (d, f, x or l), %d hexadecimal digits (- for d) and a path", text, sumDigits)
	}
	line := Line{Kind: kind[0], Sum: sum, Path: p}
	if line.String() != string(text) {
		return fmt.Errorf("imagehash: summary line %q: the path is not quoted as it should be", text)
	}
	*l = line
	return nil
}

func isShortSum(s string) bool {
	return len(s) == sumDigits && strings.Trim(s, "0123456789abcdef") == ""
}
