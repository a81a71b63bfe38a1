//go:build !remotebox_runner

package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/remote-box/remote"
)

const (
	errorLimit = 64 << 10 // of a body that is read for an error
	textLimit  = 4 << 10  // of what an error says of it
)

// Error is a request that failed.
type Error struct {
	Op      string // method and path
	Status  int    // 0 if there was no answer, or none that could be understood
	Code    string // the provider's name for the error, if it gave one
	Message string // what the provider said, or what is wrong with it
	Wait    time.Duration
	Unsent  bool // the request certainly did not reach the server
	Cut     bool // the answer came, but not to its end
	Body    []byte
	Err     error // why there was no answer
}

func (e *Error) Error() string {
	s := e.Op + ":"
	if e.Status != 0 {
		s += fmt.Sprintf(" %d", e.Status)
	}
	if e.Message != "" {
		s += " " + e.Message
		if e.Err != nil {
			s += ":"
		}
	}
	if e.Err != nil {
		s += " " + e.Err.Error()
	}
	return s
}

// Unwrap returns why there was no answer.
func (e *Error) Unwrap() error { return e.Err }

// Doubtful reports whether the request may have been carried out although it failed.
func (e *Error) Doubtful() bool {
	switch e.Status {
	case 0:
		return !e.Unsent
	case http.StatusRequestTimeout, http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Status is the status that err tells of, or 0.
func Status(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// refusal makes the error of an answer with a bad status.
func (c *Client) refusal(resp *http.Response, r *Request) *Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, errorLimit))
	e := &Error{Op: r.op(), Status: resp.StatusCode}
	e.Wait, _ = RetryAfter(resp.Header)
	e.Code, e.Message = said(body)
	e.Code, e.Message = c.redact(e.Code, r), c.redact(e.Message, r)
	if to := Redirect(resp); to != "" {
		e.Message = to
	}
	if e.Message == "" {
		e.Message = http.StatusText(resp.StatusCode)
	}
	if json.Valid(body) {
		e.Body = []byte(c.redact(string(body), r))
	}
	return e
}

// said is what an error's body says: E2B's and Daytona's JSON, anybody's text, or nothing.
func said(body []byte) (code, message string) {
	var j struct {
		ErrorCode string `json:"error_code"`
		Code      any    `json:"code"`
		Message   any    `json:"message"`
		Error     any    `json:"error"`
	}
	if json.Unmarshal(body, &j) == nil {
		code = j.ErrorCode
		if text, ok := j.Code.(string); ok && code == "" {
			code = text
		}
		for _, v := range []any{j.Message, j.Error} {
			switch v := v.(type) {
			case string:
				message = cmp.Or(message, v)
			case []any: // a list of what is wrong with the request
				if message == "" {
					message = strings.Trim(fmt.Sprint(v...), "[]")
				}
			}
		}
	}
	if message == "" && !json.Valid(body) {
		message = string(body)
	}
	return code, Printable(message)
}

// Printable is text from outside as it can be shown: short, in valid UTF-8 and without control
// characters that a terminal would obey.
func Printable(text string) string {
	if len(text) > textLimit {
		text = text[:textLimit] + "…"
	}
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text))
}

// network is an error of the network without the URL, whose query may be a signature.
func (c *Client) network(err error, r *Request) error {
	for {
		u, ok := errors.AsType[*url.Error](err)
		if !ok {
			break
		}
		err = u.Err
	}
	if masked := c.redact(err.Error(), r); masked != err.Error() {
		return errors.New(masked)
	}
	return err
}

// mask stands for a secret.
const mask = "********"

func (c *Client) redact(text string, r *Request) string {
	for _, list := range [][]string{c.Secrets, r.Secrets} {
		text = Redact(text, list)
	}
	return text
}

// Redact masks every secret in text, also as JSON and URLs would write it.
func Redact(text string, secrets []string) string {
	for _, s := range secrets {
		if s == "" {
			continue
		}
		forms := []string{s, url.QueryEscape(s), url.PathEscape(s)}
		forms = append(forms, inJSON(s, true), inJSON(s, false))
		for _, f := range forms {
			text = strings.ReplaceAll(text, f, mask)
		}
	}
	return text
}

// inJSON is s inside a JSON string.
func inJSON(s string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(s) != nil {
		return s
	}
	quoted := strings.TrimSuffix(b.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

// explain gives errors that callers ask about the types of package remote.
func (c *Client) explain(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	switch e.Status {
	case http.StatusUnauthorized:
		refused := c.Credential
		refused.Reason = "refused (" + e.Message + ")"
		return &refused
	case http.StatusTooManyRequests:
		return &remote.LimitError{Backend: c.Credential.Backend, Message: e.Message, Wait: e.Wait}
	}
	return err
}
