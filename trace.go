package remote

import (
	"context"

	"github.com/remote-box/remote/internal/trace"
)

// ContextWithTrace returns a context whose calls carry trace context into the sandbox: the fields
// that a tracing library's propagator writes, such as "traceparent" (W3C Trace Context). The map
// must not be changed afterwards.
func ContextWithTrace(ctx context.Context, fields map[string]string) context.Context {
	return trace.With(ctx, fields)
}

// TraceFromContext returns the trace context that a call carried; nil if there is none. The map
// must not be changed.
func TraceFromContext(ctx context.Context) map[string]string { return trace.From(ctx) }
