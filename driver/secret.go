package driver

import (
	"fmt"
	"io"
)

// Secret is a string, such as a provider's key, that shows itself to nobody: every verb of package
// fmt, encoding/json and the like, and log/slog get asterisks. string(s) is the text itself.
//
// Package fmt can't ask values that are in unexported fields, nor encoding/json the keys of maps: keep
// no Secret there in what is printed.
type Secret string

const masked = "********"

// String returns asterisks, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return masked
}

// Format implements fmt.Formatter, for every verb and flag.
func (s Secret) Format(f fmt.State, verb rune) {
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		fmt.Fprintf(f, "%q", s.String())
		return
	}
	io.WriteString(f, s.String())
}

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// MarshalText implements encoding.TextMarshaler: a secret does not travel.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
