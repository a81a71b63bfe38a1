package codec

import (
	"reflect"
	"strings"
	"unicode"
)

// field is what encoding/json makes of a struct's field.
type field struct {
	reflect.StructField
	name                        string // its key, unless it is embedded without a name of its own
	skip                        bool   // it does not travel
	embedded                    bool   // its own fields stand in its place
	omitEmpty, omitZero, quoted bool
}

func fieldOf(t reflect.Type, i int) field {
	f := field{StructField: t.Field(i)}
	tag := f.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	for option := range strings.SplitSeq(options, ",") {
		f.omitEmpty = f.omitEmpty || option == "omitempty"
		f.omitZero = f.omitZero || option == "omitzero"
		f.quoted = f.quoted || option == "string"
	}
	if !validName(name) {
		name = ""
	}
	target := f.Type
	if target.Kind() == reflect.Pointer && target.Name() == "" {
		target = target.Elem()
	}
	f.embedded = f.Anonymous && name == "" && target.Kind() == reflect.Struct
	f.skip = tag == "-" || !f.IsExported() && !(f.Anonymous && target.Kind() == reflect.Struct)
	if f.name = name; name == "" {
		f.name = f.Name
	}
	return f
}

// validName reports whether encoding/json accepts a tag's name.
func validName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}

// omitted reports whether encoding/json leaves the field out because of its value.
func (f *field) omitted(v reflect.Value) bool {
	return f.omitEmpty && empty(v) || f.omitZero && zero(v)
}

// empty is what omitempty leaves out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Bool, reflect.Interface, reflect.Pointer,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64:
		return v.IsZero()
	}
	return false
}

type isZeroer interface{ IsZero() bool }

var isZeroerType = reflect.TypeFor[isZeroer]()

// zero is what omitzero leaves out.
func zero(v reflect.Value) bool {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Interface && t.Implements(isZeroerType):
		return v.IsNil() || v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() || v.Interface().(isZeroer).IsZero()
	case t.Kind() == reflect.Pointer && t.Implements(isZeroerType):
		return v.IsNil() || v.Interface().(isZeroer).IsZero()
	case t.Implements(isZeroerType):
		return v.Interface().(isZeroer).IsZero()
	case reflect.PointerTo(t).Implements(isZeroerType):
		if !v.CanAddr() {
			p := reflect.New(t).Elem()
			p.Set(v)
			v = p
		}
		return v.Addr().Interface().(isZeroer).IsZero()
	}
	return v.IsZero()
}
