//go:build !remotebox_runner

package httpapi

import (
	"net/http"
	"net/url"
)

// NoRedirects is c, but an answer that redirects is returned as it is: it may come from a sandbox,
// whose programs must not send this host's requests, and the keys in them, anywhere else.
func NoRedirects(c *http.Client) *http.Client {
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Redirect says of an answer that redirects where to, or is empty for others. Of the address it shows
// the scheme and the host: the rest may hold a signature.
func Redirect(resp *http.Response) string {
	if resp.StatusCode < 300 || resp.StatusCode >= 400 {
		return ""
	}
	to := "somewhere else"
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Host != "" {
		to = u.Scheme + "://" + u.Host
	}
	return Printable("it redirects to " + to + ", and redirects are not followed: use the address that answers itself")
}
