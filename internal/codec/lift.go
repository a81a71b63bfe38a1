package codec

import (
	"bufio"
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/remote-box/remote/internal/rand"
)

// literal is a large JSON string in a file. While the rest is read, a short one that nobody can
// guess stands in its place; it is base64, because it may stand for a []byte.
type literal struct {
	start, end int64 // of what is between the quotes
	size       int64 // about as long as the text is; not shorter
	escapes    bool
}

// unmarshalLarge reads a value whose large strings are plain strings and []byte fields. false means
// that it is not such a value, or that it is malformed: then v is unchanged, and Unmarshal knows.
func unmarshalLarge(r io.ReaderAt, size int64, v any, large int64) bool {
	if !reflect.ValueOf(v).Elem().IsZero() {
		return false // what is there already would count
	}
	small, literals := skim(io.NewSectionReader(r, 0, size), large)
	if len(literals) == 0 || !utf8.Valid(small) {
		return false
	}
	target := reflect.New(reflect.TypeOf(v).Elem())
	if json.Unmarshal(small, target.Interface()) != nil {
		return false
	}
	f := &filler{r: r, left: literals}
	if !f.fill(target.Elem()) || len(f.left) > 0 {
		return false // methods of their own have seen what was not for them
	}
	reflect.ValueOf(v).Elem().Set(target.Elem())
	return true
}

// skim reads JSON and returns it with its strings over large replaced.
func skim(r io.Reader, large int64) (small []byte, literals map[string]*literal) {
	literals = map[string]*literal{}
	in := bufio.NewReaderSize(r, 64<<10)
	var offset int64
	var lit *literal // the string that offset is in, from its beginning
	from := 0        // where small holds it
	escaped := false
	for {
		if _, err := in.Peek(1); err != nil {
			return small, literals // a string without end is for Unmarshal to complain about
		}
		buf, _ := in.Peek(in.Buffered())
		n := 0
		switch {
		case lit == nil:
			if n = bytes.IndexByte(buf, '"') + 1; n > 0 {
				lit, from = &literal{start: offset + int64(n)}, len(small)+n
			} else {
				n = len(buf)
			}
			small = append(small, buf[:n]...)
		case escaped:
			n, escaped = 1, false
			if small = append(small, buf[0]); buf[0] == 'u' {
				lit.size -= 2 // six bytes are three at most
			}
		default:
			n = run(buf)
			lit.size += int64(n)
			if lit.size <= large {
				small = append(small, buf[:n]...)
			}
			if n == len(buf) {
				break
			}
			switch n++; buf[n-1] {
			case '\\':
				small = append(small, '\\')
				escaped, lit.escapes = true, true
				lit.size++
			case '"':
				if lit.size > large {
					lit.end = offset + int64(n) - 1
					name := rand.Text(32)
					literals[name] = lit
					small = append(small[:from], name...)
				}
				small = append(small, '"')
				lit = nil
			default:
				return nil, nil // a control character
			}
		}
		if lit != nil && lit.size > large {
			small = small[:min(len(small), from)]
		}
		in.Discard(n)
		offset += int64(n)
	}
}

// run is the length of the text at the beginning of b that is neither escaped nor a string's end.
func run(b []byte) int {
	for i, c := range b {
		if c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(b)
}

// filler puts large strings where the short ones stand for them.
type filler struct {
	r    io.ReaderAt
	left map[string]*literal
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fill fills in what is in v. It reports whether all that it found could be read.
func (f *filler) fill(v reflect.Value) bool {
	t := v.Type()
	if light(t) || len(f.left) == 0 {
		return true
	}
	if p := reflect.PointerTo(t); t.Kind() != reflect.Interface && (p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler)) {
		return true
	}
	switch t.Kind() {
	case reflect.String:
		text, found, ok := f.text(v.String())
		if found && ok {
			v.SetString(text)
		}
		return ok
	case reflect.Interface:
		return f.fillInside(v)
	case reflect.Pointer:
		return v.IsNil() || f.fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if sf := t.Field(i); (sf.IsExported() || sf.Anonymous && sf.Type.Kind() == reflect.Struct) && !f.fill(v.Field(i)) {
				return false
			}
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return f.fillBytes(v)
		}
		fallthrough
	case reflect.Array:
		for i := 0; !light(t.Elem()) && i < v.Len(); i++ {
			if !f.fill(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		return f.fillMap(v)
	}
	return true
}

// fillInside fills in what an interface holds, which can only be replaced whole.
func (f *filler) fillInside(v reflect.Value) bool {
	if v.IsNil() {
		return true
	}
	switch in := v.Elem(); in.Kind() {
	case reflect.Map, reflect.Slice, reflect.Pointer:
		return f.fill(in) // these are changed where they are
	case reflect.String:
		p := reflect.New(in.Type()).Elem()
		p.Set(in)
		if !f.fill(p) {
			return false
		}
		v.Set(p)
	}
	return true
}

func (f *filler) fillMap(v reflect.Value) bool {
	if light(v.Type().Elem()) {
		return true
	}
	for it := v.MapRange(); it.Next() && len(f.left) > 0; {
		p := reflect.New(v.Type().Elem()).Elem()
		p.Set(it.Value())
		before := len(f.left)
		if !f.fill(p) {
			return false
		}
		if len(f.left) < before {
			v.SetMapIndex(it.Key(), p)
		}
	}
	return true
}

// text returns the text that name stands for.
func (f *filler) text(name string) (text string, found, ok bool) {
	lit := f.left[name]
	if lit == nil {
		return "", false, true
	}
	delete(f.left, name)
	var b strings.Builder
	b.Grow(int(lit.size))
	in := bufio.NewReaderSize(io.NewSectionReader(f.r, lit.start, lit.end-lit.start), 64<<10)
	if !unescape(&b, in) {
		return "", true, false
	}
	text = b.String()
	if !utf8.ValidString(text) {
		return "", true, false
	}
	if b.Cap()-len(text) > len(text)/4 {
		text = strings.Clone(text)
	}
	return text, true, true
}

func (f *filler) fillBytes(v reflect.Value) bool {
	name := base64.StdEncoding.EncodeToString(v.Bytes())
	lit := f.left[name]
	if lit == nil {
		return true
	}
	delete(f.left, name)
	if lit.escapes {
		return false
	}
	n := lit.end - lit.start
	var tail [2]byte
	if n%4 != 0 {
		return false
	}
	if _, err := f.r.ReadAt(tail[:], lit.end-2); err != nil {
		return false
	}
	b := make([]byte, n/4*3-int64(bytes.Count(tail[:], []byte("="))))
	in := base64.NewDecoder(base64.StdEncoding, io.NewSectionReader(f.r, lit.start, n))
	if _, err := io.ReadFull(in, b); err != nil {
		return false
	}
	if _, err := in.Read(tail[:]); err != io.EOF {
		return false
	}
	v.SetBytes(b)
	return true
}
