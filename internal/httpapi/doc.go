// Package httpapi is what backends share that talk to a provider over HTTP: when a request may be
// sent again, how long to wait before that, and errors that say what the provider said without
// saying what it must not.
package httpapi
