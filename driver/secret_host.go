//go:build !remotebox_runner

package driver

import "log/slog"

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
