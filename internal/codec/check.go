package codec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deeply values may be nested: encoding/json reads no more than 10,000 levels.
const maxDepth = 9_000

// Check finds the first part of v that JSON can't carry: NaN and infinities, strings that are not
// UTF-8 (encoding/json would replace their bytes), cycles, channels, functions, complex numbers; and
// structs of which fields would be left out: two of one JSON name, and those beside an embedded
// field whose MarshalJSON or MarshalText stands for the whole struct. Values with JSON or text
// methods of their own are left to them.
func Check(v any) error {
	if v == nil {
		return nil
	}
	c := &checker{}
	rv := reflect.ValueOf(v)
	if !suspect(rv.Type(), nil) {
		return nil
	}
	return c.value(rv)
}

type checker struct {
	path    []step
	depth   int             // of JSON arrays and objects
	parents []parent        // pointers, maps and slices on the way here
	further map[parent]bool // those beyond the first few
	structs map[reflect.Type]*structure
	lists   map[reflect.Type]bool // whether elements of such a struct type are suspect
}

// structure is what there is to be known of a struct type.
type structure struct {
	flaw   string
	fields []field // those that have to be looked at
}

// parent is what holds a value; it can't be inside it again.
type parent struct {
	at     uintptr
	typ    reflect.Type
	length int // of a slice
}

// step leads from a value to one inside it: a field, an element or, for a valid key, a map's value.
type step struct {
	field string
	index int
	key   reflect.Value
}

func (s step) String() string {
	switch {
	case s.field != "":
		return "." + s.field
	case s.key.IsValid():
		return "[" + short(fmt.Sprint(s.key), 64) + "]"
	}
	return fmt.Sprintf("[%d]", s.index)
}

func (c *checker) fail(reason string) error {
	var b strings.Builder
	for _, s := range c.path {
		b.WriteString(s.String())
	}
	path := strings.TrimPrefix(b.String(), ".")
	if len(path) > maxPath {
		path = path[:maxPath/2] + "…" + path[len(path)-maxPath/2:]
	}
	return &Error{Field: strings.ToValidUTF8(path, "\ufffd"), Reason: reason}
}

// maxPath bounds the path of a field in an Error.
const maxPath = 1 << 10

func (c *checker) at(s step, v reflect.Value) error {
	c.path = append(c.path, s)
	err := c.value(v)
	c.path = c.path[:len(c.path)-1]
	return err
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// custom reports whether encoding/json leaves v to methods of its own.
func custom(v reflect.Value) bool {
	if k := v.Kind(); k != reflect.Pointer && k != reflect.Struct && k != reflect.Interface && v.Type().PkgPath() == "" {
		return false // it has no methods, and the answer is wanted for every element of a slice
	}
	return customType(v.Type()) || v.CanAddr() && v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface && customType(reflect.PointerTo(v.Type()))
}

func customType(t reflect.Type) bool {
	return t.Implements(jsonMarshaler) || t.Implements(textMarshaler)
}

func (c *checker) value(v reflect.Value) error {
	if custom(v) {
		return c.byMethod(v)
	}
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return c.fail("a string that is not UTF-8; use []byte for bytes")
		}
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return c.fail(fmt.Sprintf("%v has no JSON form", f))
		}
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return c.fail(fmt.Sprintf("a %s has no JSON form", v.Type()))
	case reflect.Interface:
		if !v.IsNil() {
			return c.value(v.Elem())
		}
	case reflect.Pointer:
		return c.below(v, func() error { return c.value(v.Elem()) })
	case reflect.Map:
		return c.below(v, func() error { return c.nested(v, c.mapping) })
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		return c.below(v, func() error { return c.nested(v, c.list) })
	case reflect.Array:
		return c.nested(v, c.list)
	case reflect.Struct:
		return c.nested(v, c.fields)
	}
	return nil
}

// byMethod checks a value that a method of its own writes, as far as that may be another's.
func (c *checker) byMethod(v reflect.Value) error {
	t := v.Type()
	if t.Kind() == reflect.Pointer && !v.IsNil() {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		if s := c.structure(t); s.flaw != "" {
			return c.fail(s.flaw)
		}
	}
	return nil
}

// below runs f for what v points to, unless v is on the way there already.
func (c *checker) below(v reflect.Value, f func() error) error {
	if v.IsNil() {
		return nil
	}
	p := parent{at: v.Pointer(), typ: v.Type()}
	if v.Kind() == reflect.Slice {
		if p.length = v.Len(); p.length == 0 {
			return nil
		}
	}
	if slices.Contains(c.parents, p) || c.further[p] {
		return c.fail("a cycle: it contains itself")
	}
	if len(c.parents) < 32 {
		c.parents = append(c.parents, p)
		defer func() { c.parents = c.parents[:len(c.parents)-1] }()
		return f()
	}
	if c.further == nil {
		c.further = map[parent]bool{}
	}
	c.further[p] = true
	defer delete(c.further, p)
	return f()
}

// nested runs f for v, a JSON array or object.
func (c *checker) nested(v reflect.Value, f func(reflect.Value) error) error {
	if c.depth >= maxDepth {
		return c.fail(fmt.Sprintf("nested more than %d levels deep", maxDepth))
	}
	c.depth++
	err := f(v)
	c.depth--
	return err
}

func (c *checker) mapping(v reflect.Value) error {
	suspicious := c.suspect(v.Type().Elem())
	for it := v.MapRange(); it.Next(); {
		k := it.Key()
		if k.Kind() == reflect.String && !utf8.ValidString(k.String()) {
			return c.fail("a key that is not UTF-8: " + short(fmt.Sprintf("%q", k.String()), 64))
		}
		if suspicious {
			if err := c.at(step{key: k}, it.Value()); err != nil {
				return err
			}
		}
	}
	return nil
}

// short cuts s to what is fit for an error.
func short(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

func (c *checker) list(v reflect.Value) error {
	if !c.suspect(v.Type().Elem()) {
		return nil
	}
	for i := range v.Len() {
		if err := c.at(step{index: i}, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) fields(v reflect.Value) error {
	s := c.structure(v.Type())
	if s.flaw != "" {
		return c.fail(s.flaw)
	}
	for _, f := range s.fields {
		if fv := v.FieldByIndex(f.Index); !f.omitted(fv) {
			if err := c.at(step{field: f.Name}, fv); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) structure(t reflect.Type) *structure {
	s, ok := c.structs[t]
	if ok {
		return s
	}
	s = &structure{flaw: flaw(t)}
	for i := range t.NumField() {
		if f := fieldOf(t, i); !f.skip && suspect(f.Type, nil) {
			s.fields = append(s.fields, f)
		}
	}
	if c.structs == nil {
		c.structs = map[reflect.Type]*structure{}
	}
	c.structs[t] = s
	return s
}

// suspect is the function of that name, for lists and maps, of which there may be many.
func (c *checker) suspect(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return suspect(t, nil)
	}
	is, ok := c.lists[t]
	if !ok {
		is = suspect(t, nil)
		if c.lists == nil {
			c.lists = map[reflect.Type]bool{}
		}
		c.lists[t] = is
	}
	return is
}

// suspect reports whether a value of type t can be something that Check refuses, so that a slice
// of a million integers costs nothing.
func suspect(t reflect.Type, above []reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return false
	case reflect.Slice, reflect.Array:
		return suspect(t.Elem(), above)
	case reflect.Struct:
		if flaw(t) != "" {
			return true
		}
		if customType(t) {
			return false
		}
		for _, a := range above {
			if a == t {
				return true
			}
		}
		above = append(above, t)
		for i := range t.NumField() {
			if suspect(t.Field(i).Type, above) {
				return true
			}
		}
		return false
	}
	return true
}
