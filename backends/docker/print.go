package docker

import (
	"fmt"
	"log/slog"
)

// The values of Env may be secrets, and are not printed.

// printed is a Backend without methods.
type printed Backend

func (b Backend) redacted() printed {
	if b.Env != nil {
		env := make(map[string]string, len(b.Env))
		for name := range b.Env {
			env[name] = "***"
		}
		b.Env = env
	}
	return printed(b)
}

// String implements fmt.Stringer.
func (b Backend) String() string { return "docker.Backend" + fmt.Sprintf("%+v", b.redacted()) }

// GoString implements fmt.GoStringer.
func (b Backend) GoString() string { return b.String() }

// LogValue implements slog.LogValuer.
func (b Backend) LogValue() slog.Value { return slog.StringValue(b.String()) }
