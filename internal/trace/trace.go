// Package trace carries trace context in a context.Context, without knowing any tracing library.
package trace

import "context"

type key struct{}

// With returns a context that carries the given fields ("traceparent" and the like); with none it
// returns ctx.
func With(ctx context.Context, fields map[string]string) context.Context {
	if len(fields) == 0 {
		return ctx
	}
	return context.WithValue(ctx, key{}, fields)
}

// From returns the fields that ctx carries; they must not be changed.
func From(ctx context.Context) map[string]string {
	fields, _ := ctx.Value(key{}).(map[string]string)
	return fields
}
