//go:build !remotebox_runner

package httpapi

import (
	"log/slog"
	"net/url"
)

// logger writes what go-retryablehttp has to say to slog, without the queries of URLs.
type logger struct{ l *slog.Logger }

func (l logger) Error(msg string, args ...any) { l.l.Error(msg, clean(args)...) }
func (l logger) Info(msg string, args ...any)  { l.l.Info(msg, clean(args)...) }
func (l logger) Debug(msg string, args ...any) { l.l.Debug(msg, clean(args)...) }
func (l logger) Warn(msg string, args ...any)  { l.l.Warn(msg, clean(args)...) }

func clean(args []any) []any {
	kept := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case *url.URL:
			kept[i] = a.Host + a.Path
		case string:
			kept[i] = a
			if u, err := url.Parse(a); err == nil && u.Host != "" {
				kept[i] = u.Host + u.Path
			}
		case *url.Error:
			kept[i] = a.Err
		default:
			kept[i] = a
		}
	}
	return kept
}
