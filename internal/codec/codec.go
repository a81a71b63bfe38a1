// Package codec turns the inputs and outputs of functions into JSON and back, and refuses what
// JSON would silently change.
//
// What it can't see is what a type any holds on its way back, because JSON does not say: a number
// is a float64 there, so that integers beyond 2^53 (math.MaxInt64 is one) lose digits, a []byte is
// its base64 text, and a struct is a map. Concrete types keep all three.
package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// Error says which part of a value can't travel, and why.
type Error struct {
	Field  string // path of the field from the value's root, such as "Items[3].Name"; "" for the value itself
	Reason string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return e.Field + ": " + e.Reason
}

// Encode writes v as JSON. Its error is an *Error, or one of w's; some of v may have been written
// then.
func Encode(w io.Writer, v any) error {
	v = settle(v)
	if err := Check(v); err != nil {
		return err
	}
	if v != nil && weigh(reflect.ValueOf(v), largeSize) <= 0 {
		return encodeLarge(w, v, largeSize, pieceSize)
	}
	cw := &checkedWriter{w: w}
	enc := json.NewEncoder(cw)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if cw.err != nil {
		return cw.err
	}
	if err != nil {
		return describe(err)
	}
	if cw.invalid {
		return errForeign
	}
	return nil
}

var errForeign = &Error{Reason: "the JSON of a MarshalJSON method is not UTF-8"}

// settle returns a pointer to a copy of v, so that MarshalJSON methods of pointers are found as
// UnmarshalJSON methods will be.
func settle(v any) any {
	rv := reflect.ValueOf(v)
	if !rv.IsValid() || rv.Kind() == reflect.Pointer {
		return v
	}
	p := reflect.New(rv.Type())
	p.Elem().Set(rv)
	return p.Interface()
}

// Marshal returns v as JSON.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := Encode(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// checkedWriter notices JSON that is not UTF-8: a MarshalJSON method may write anything between
// quotes. encoding/json writes a value with one call.
type checkedWriter struct {
	w       io.Writer
	invalid bool
	err     error
}

func (c *checkedWriter) Write(p []byte) (int, error) {
	if !utf8.Valid(p) {
		c.invalid = true
		return len(p), nil
	}
	n, err := c.w.Write(p)
	c.err = err
	return n, err
}

// Unmarshal reads the JSON of one value into v, a pointer. Its error is an *Error.
func Unmarshal(data []byte, v any) error {
	if !utf8.Valid(data) {
		return &Error{Reason: "not UTF-8"}
	}
	if err := json.Unmarshal(data, v); err != nil {
		return describe(err)
	}
	return nil
}

// describe makes an *Error of one of encoding/json's, whose text may quote all of a value.
func describe(err error) *Error {
	e := explain(err)
	e.Reason = short(e.Reason, 2<<10)
	return e
}

func explain(err error) *Error {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return &Error{Field: typeErr.Field, Reason: fmt.Sprintf("a JSON %s where Go has %s", typeErr.Value, typeErr.Type)}
	}
	var marshalErr *json.MarshalerError
	if errors.As(err, &marshalErr) {
		return &Error{Reason: fmt.Sprintf("the JSON of %s: %v", marshalErr.Type, marshalErr.Unwrap())}
	}
	return &Error{Reason: strings.TrimPrefix(err.Error(), "json: ")}
}
