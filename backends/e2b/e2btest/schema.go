//go:build !remotebox_runner

package e2btest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
)

// property is a field of a request's body, in the words of OpenAPI.
type property struct {
	name     string
	kind     string // string, integer, boolean, object, array, or strings: an object of strings
	required bool
	min, max int // of an integer, or the length of a string; max 0 means none
}

// schema is a request's body. Unknown fields are ignored, as by E2B.
type schema struct {
	name       string
	optional   bool // the body as a whole
	properties []property
}

const openAPI = "validation error: error in openapi3filter.RequestError: "

// decode checks a request's body against the schema and decodes it into v. What
// is wrong is said in the words of E2B's validator.
func (sc schema) decode(r *http.Request, v any) *apiError {
	data, err := io.ReadAll(io.LimitReader(r.Body, bodyLimit+1))
	switch {
	case err != nil:
		return fail(http.StatusBadRequest, "%srequest body has an error: reading failed: %v", openAPI, err)
	case len(data) > bodyLimit:
		return fail(http.StatusRequestEntityTooLarge, "request body is too large")
	case len(data) == 0 && sc.optional:
		return nil
	case len(data) == 0:
		return fail(http.StatusBadRequest, "%srequest body has an error: value is required but missing", openAPI)
	}
	given := r.Header.Get("Content-Type")
	if kind, _, _ := mime.ParseMediaType(given); kind != "application/json" {
		return fail(http.StatusBadRequest, "%srequest body has an error: header Content-Type has unexpected value %q", openAPI, given)
	}
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return fail(http.StatusBadRequest, "%srequest body has an error: failed to decode request body: %v", openAPI, err)
	}
	if place, problem := sc.check(value); problem != "" {
		return fail(http.StatusBadRequest, "%srequest body has an error: doesn't match schema #/components/schemas/%s: Error at %q: %s", openAPI, sc.name, place, problem)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fail(http.StatusBadRequest, "Error when parsing request: %v", err)
	}
	return nil
}

func (sc schema) check(value any) (place, problem string) {
	object, ok := value.(map[string]any)
	if !ok {
		return "/", "value must be an object"
	}
	for _, p := range sc.properties {
		place := "/" + p.name
		value, ok := object[p.name]
		switch {
		case !ok && p.required:
			return place, fmt.Sprintf("property %q is missing", p.name)
		case !ok || value == nil && !p.required:
			continue
		}
		if at, problem := p.check(place, value); problem != "" {
			return at, problem
		}
	}
	return "", ""
}

func (p property) check(place string, value any) (at, problem string) {
	ok := false
	switch p.kind {
	case "string":
		var text string
		if text, ok = value.(string); ok && p.max > 0 && len([]rune(text)) > p.max {
			return place, fmt.Sprintf("maximum string length is %d", p.max)
		}
	case "integer":
		var number json.Number
		if number, ok = value.(json.Number); ok {
			n, err := strconv.ParseInt(number.String(), 10, 32)
			switch {
			case err != nil:
				ok = false
			case n < int64(p.min):
				return place, fmt.Sprintf("number must be at least %d", p.min)
			case p.max > 0 && n > int64(p.max):
				return place, fmt.Sprintf("number must be at most %d", p.max)
			}
		}
	case "boolean":
		_, ok = value.(bool)
	case "array":
		_, ok = value.([]any)
	case "object":
		_, ok = value.(map[string]any)
	case "strings":
		var object map[string]any
		object, ok = value.(map[string]any)
		for key, value := range object {
			if _, isText := value.(string); !isText {
				return place + "/" + key, "value must be a string"
			}
		}
		p.kind = "object"
	}
	if ok {
		return "", ""
	}
	article := "a"
	if p.kind == "integer" || p.kind == "object" || p.kind == "array" {
		article = "an"
	}
	return place, "value must be " + article + " " + p.kind
}

// queryInt reads a number of the query.
func queryInt(query url.Values, name string, preset, least, most int) (int, *apiError) {
	text := query.Get(name)
	if text == "" {
		return preset, nil
	}
	n, err := strconv.Atoi(text)
	problem := ""
	switch {
	case err != nil:
		problem = fmt.Sprintf("value %s: an invalid integer: invalid syntax", text)
	case n < least:
		problem = fmt.Sprintf("number must be at least %d", least)
	case n > most:
		problem = fmt.Sprintf("number must be at most %d", most)
	default:
		return n, nil
	}
	return 0, fail(http.StatusBadRequest, "%sparameter %q in query has an error: %s", openAPI, name, problem)
}
