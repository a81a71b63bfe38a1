// Package codec turns the inputs and outputs of functions into JSON and back, and refuses what
// JSON would silently change.
package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Encode writes v as JSON. Its error is an *Error, or one of w's.
func Encode(w io.Writer, v any) error {
	if err := Check(v); err != nil {
		return err
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
		return &Error{Reason: "the JSON of a MarshalJSON method is not UTF-8"}
	}
	return nil
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

// describe makes an *Error of one of encoding/json's.
func describe(err error) *Error {
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
