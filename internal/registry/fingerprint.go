package registry

import (
	"encoding"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
)

// Fingerprint identifies a pair of types by what their JSON looks like: field names, tags and
// kinds, all the way down. Renaming a Go type does not change it; renaming a field does.
func Fingerprint(in, out reflect.Type) string {
	h := fnv.New128a()
	for _, t := range []reflect.Type{in, out} {
		describe(h, t, map[reflect.Type]int{})
		io.WriteString(h, "\n")
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

var (
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
)

// describe writes t's shape. A type met again inside itself is written as the number it was given
// the first time.
func describe(w io.Writer, t reflect.Type, seen map[reflect.Type]int) {
	if n, ok := seen[t]; ok {
		fmt.Fprintf(w, "^%d", n)
		return
	}
	if p := reflect.PointerTo(t); t.Implements(jsonMarshaler) || p.Implements(jsonMarshaler) ||
		p.Implements(jsonUnmarshaler) || t.Implements(textMarshaler) || p.Implements(textMarshaler) {
		// What it looks like is known to its own code only.
		fmt.Fprintf(w, "custom %s.%s", t.PkgPath(), t.String())
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		io.WriteString(w, "*")
		describe(w, t.Elem(), seen)
	case reflect.Slice:
		io.WriteString(w, "[]")
		describe(w, t.Elem(), seen)
	case reflect.Array:
		fmt.Fprintf(w, "[%d]", t.Len())
		describe(w, t.Elem(), seen)
	case reflect.Map:
		io.WriteString(w, "map[")
		describe(w, t.Key(), seen)
		io.WriteString(w, "]")
		describe(w, t.Elem(), seen)
	case reflect.Struct:
		seen[t] = len(seen)
		io.WriteString(w, "{")
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			fmt.Fprintf(w, "%s %q %t ", f.Name, f.Tag.Get("json"), f.Anonymous)
			describe(w, f.Type, seen)
			io.WriteString(w, ";")
		}
		io.WriteString(w, "}")
	default:
		if t.Name() != "" && t.Kind() == reflect.Interface {
			io.WriteString(w, "interface")
			return
		}
		io.WriteString(w, t.Kind().String())
	}
}
