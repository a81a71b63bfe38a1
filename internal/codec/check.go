package codec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Check finds the first part of v that JSON can't carry: NaN and infinities, strings that are not
// UTF-8 (encoding/json would replace their bytes), cycles, channels, functions, complex numbers.
// Values with JSON or text methods of their own are left to them.
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
	path    []string
	parents []reflect.Value // pointers, maps and slices on the way here
}

func (c *checker) fail(reason string) error {
	return &Error{Field: strings.TrimPrefix(strings.Join(c.path, ""), "."), Reason: reason}
}

func (c *checker) at(step string, v reflect.Value) error {
	c.path = append(c.path, step)
	err := c.value(v)
	c.path = c.path[:len(c.path)-1]
	return err
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func custom(t reflect.Type) bool {
	return t.Implements(jsonMarshaler) || t.Implements(textMarshaler) ||
		t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface &&
			(reflect.PointerTo(t).Implements(jsonMarshaler) || reflect.PointerTo(t).Implements(textMarshaler))
}

func (c *checker) value(v reflect.Value) error {
	if v.IsValid() && custom(v.Type()) {
		return nil
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
		if !v.IsNil() {
			return c.below(v, func() error { return c.value(v.Elem()) })
		}
	case reflect.Map:
		return c.below(v, func() error { return c.mapping(v) })
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		return c.below(v, func() error { return c.list(v) })
	case reflect.Array:
		return c.list(v)
	case reflect.Struct:
		return c.fields(v)
	}
	return nil
}

// below runs f for what v points to, unless v is on the way there already.
func (c *checker) below(v reflect.Value, f func() error) error {
	if v.IsNil() {
		return nil
	}
	for _, p := range c.parents {
		if p.Kind() == v.Kind() && p.Pointer() == v.Pointer() && p.Type() == v.Type() && (v.Kind() != reflect.Slice || p.Len() == v.Len() && v.Len() > 0) {
			return c.fail("a cycle: it contains itself")
		}
	}
	if len(c.parents) > 5000 {
		return c.fail("nested too deeply")
	}
	c.parents = append(c.parents, v)
	err := f()
	c.parents = c.parents[:len(c.parents)-1]
	return err
}

func (c *checker) mapping(v reflect.Value) error {
	for it := v.MapRange(); it.Next(); {
		k := it.Key()
		if k.Kind() == reflect.String && !custom(k.Type()) && !utf8.ValidString(k.String()) {
			return c.fail(fmt.Sprintf("a key that is not UTF-8: %q", k.String()))
		}
		if suspect(v.Type().Elem(), nil) {
			if err := c.at(fmt.Sprintf("[%v]", k), it.Value()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) list(v reflect.Value) error {
	if !suspect(v.Type().Elem(), nil) {
		return nil
	}
	for i := range v.Len() {
		if err := c.at(fmt.Sprintf("[%d]", i), v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) fields(v reflect.Value) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" || !suspect(f.Type, nil) {
			continue
		}
		if strings.Contains(f.Tag.Get("json"), ",omitempty") && empty(v.Field(i)) {
			continue
		}
		if err := c.at("."+f.Name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}

// empty is what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Interface, reflect.Pointer:
		return v.IsNil()
	}
	return v.IsZero() && v.Kind() != reflect.Struct
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
		if custom(t) {
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
