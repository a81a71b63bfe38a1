package codec

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// largeSize is about how large a value is when it is written piece by piece: encoding/json
	// makes all of a value's text before it writes any, twice over while its buffer grows.
	largeSize = 256 << 10
	// pieceSize is about how large the pieces are.
	pieceSize = 48 << 10
)

// stream writes a large value. Its bytes are those of encoding/json, which writes all that is not
// large itself.
type stream struct {
	large, pieces int // largeSize and pieceSize, but for tests
	w             *bufio.Writer
	piece         bytes.Buffer
	enc           *json.Encoder
}

func encodeLarge(w io.Writer, v any, large, pieces int) error {
	s := &stream{large: large, pieces: pieces, w: bufio.NewWriterSize(w, 64<<10)}
	s.enc = json.NewEncoder(&s.piece)
	s.enc.SetEscapeHTML(false)
	if err := s.value(reflect.ValueOf(v)); err != nil {
		return err
	}
	s.w.WriteByte('\n')
	return s.w.Flush()
}

func (s *stream) value(v reflect.Value) error {
	if custom(v) || weigh(v, s.large) > 0 {
		return s.whole(v)
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return s.value(v.Elem())
	case reflect.String:
		if v.Type() != reflect.TypeFor[json.Number]() {
			return s.text(v.String())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			return s.list(v)
		}
		if e := reflect.PointerTo(v.Type().Elem()); !customType(e) {
			return s.bytes(v.Bytes())
		}
	case reflect.Array:
		if v.CanAddr() {
			return s.list(v)
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			return s.mapping(v)
		}
	case reflect.Struct:
		if fields, ok := plainFields(v.Type()); ok {
			return s.object(v, fields)
		}
	}
	return s.whole(v)
}

// whole writes v as encoding/json does.
func (s *stream) whole(v reflect.Value) error {
	text, err := s.marshal(v)
	if err != nil {
		return err
	}
	_, err = s.w.Write(text)
	return err
}

// marshal returns v's JSON; it is valid until the next call.
func (s *stream) marshal(v reflect.Value) ([]byte, error) {
	if s.piece.Cap() > 4*s.large {
		s.piece = bytes.Buffer{}
	}
	s.piece.Reset()
	p := v
	if v.CanAddr() {
		p = v.Addr() // so that methods of its pointer are found, as encoding/json would
	}
	if err := s.enc.Encode(p.Interface()); err != nil {
		return nil, describe(err)
	}
	text := bytes.TrimSuffix(s.piece.Bytes(), []byte("\n"))
	if !utf8.Valid(text) {
		return nil, errForeign
	}
	return text, nil
}

func (s *stream) text(str string) error {
	s.w.WriteByte('"')
	for len(str) > 0 {
		n := min(len(str), s.pieces)
		for n < len(str) && !utf8.RuneStart(str[n]) {
			n--
		}
		if plainText(str[:n]) {
			s.w.WriteString(str[:n])
		} else {
			text, err := s.marshal(reflect.ValueOf(str[:n]))
			if err != nil {
				return err
			}
			s.w.Write(text[1 : len(text)-1])
		}
		str = str[n:]
	}
	return s.w.WriteByte('"')
}

// plainText reports whether str is its own JSON.
func plainText(str string) bool {
	for i := range len(str) {
		if c := str[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func (s *stream) bytes(b []byte) error {
	s.w.WriteByte('"')
	e := base64.NewEncoder(base64.StdEncoding, s.w)
	e.Write(b)
	e.Close()
	return s.w.WriteByte('"')
}

// list writes runs of small elements together.
func (s *stream) list(v reflect.Value) error {
	s.w.WriteByte('[')
	for i := 0; i < v.Len(); {
		if i > 0 {
			s.w.WriteByte(',')
		}
		end, left := i, s.pieces
		for end < v.Len() && left > 0 {
			left = weigh(v.Index(end), left)
			end++
		}
		if end == i+1 {
			if err := s.value(v.Index(i)); err != nil {
				return err
			}
		} else {
			text, err := s.marshal(v.Slice(i, end))
			if err != nil {
				return err
			}
			s.w.Write(text[1 : len(text)-1])
		}
		i = end
	}
	return s.w.WriteByte(']')
}

func (s *stream) mapping(v reflect.Value) error {
	values := make(map[string]reflect.Value, v.Len())
	for it := v.MapRange(); it.Next(); {
		values[it.Key().String()] = it.Value()
	}
	s.w.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			s.w.WriteByte(',')
		}
		if err := s.text(key); err != nil {
			return err
		}
		s.w.WriteByte(':')
		if err := s.value(values[key]); err != nil {
			return err
		}
	}
	return s.w.WriteByte('}')
}

func (s *stream) object(v reflect.Value, fields []field) error {
	next := byte('{')
	for _, f := range fields {
		fv := v.FieldByIndex(f.Index)
		if f.omitted(fv) {
			continue
		}
		s.w.WriteByte(next)
		next = ','
		s.w.WriteString(`"` + f.name + `":`)
		if err := s.value(fv); err != nil {
			return err
		}
	}
	if next == '{' {
		s.w.WriteByte(next)
	}
	return s.w.WriteByte('}')
}

// plainFields are the fields of a struct that has no embedded ones, no two of one name and none
// in quotes: what the rules for those are is left to encoding/json.
func plainFields(t reflect.Type) (fields []field, ok bool) {
	names := map[string]bool{}
	for i := range t.NumField() {
		f := fieldOf(t, i)
		if f.skip {
			continue
		}
		if f.Anonymous || f.quoted || names[f.name] || strings.ContainsAny(f.name, `"\`) {
			return nil, false
		}
		names[f.name] = true
		fields = append(fields, f)
	}
	return fields, true
}

// weigh takes v's size off left, and stops when nothing is left.
func weigh(v reflect.Value, left int) int {
	left -= 8
	switch v.Kind() {
	case reflect.String:
		return left - v.Len()
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() && !customType(v.Type()) {
			return weigh(v.Elem(), left)
		}
	case reflect.Slice, reflect.Array:
		if light(v.Type().Elem()) {
			return left - v.Len()*int(v.Type().Elem().Size())
		}
		for i := 0; i < v.Len() && left > 0; i++ {
			left = weigh(v.Index(i), left)
		}
	case reflect.Map:
		for it := v.MapRange(); left > 0 && it.Next(); {
			left = weigh(it.Value(), left-it.Key().Type().Align())
			if it.Key().Kind() == reflect.String {
				left -= it.Key().Len()
			}
		}
	case reflect.Struct:
		if custom(v) {
			return left
		}
		for i := 0; i < v.NumField() && left > 0; i++ {
			left = weigh(v.Field(i), left)
		}
	}
	return left
}

// light reports whether values of type t all have the same small size.
func light(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		return true
	}
	return false
}
