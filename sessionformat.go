package remote

import (
	"fmt"
	"io"
)

// Format implements fmt.Formatter, for all verbs alike: package fmt would else print the backend
// value with what it can't be asked to mask, such as a provider's key.
func (s *Session) Format(f fmt.State, _ rune) {
	io.WriteString(f, "session "+s.id+" on "+s.backend.Name())
}
