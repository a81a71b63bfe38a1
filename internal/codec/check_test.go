package codec

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"
)

var (
	nan    = math.NaN()
	noUTF8 = "a\xff"
)

type hidden float64

type node struct {
	Next *node `json:"next,omitempty"`
}

type wide struct {
	A struct{ B struct{ Next *wide } }
}

func list(n int) *node {
	var head *node
	for range n {
		head = &node{head}
	}
	return head
}

func wideList(n int) (head wide) {
	for range n {
		inner := head
		head = wide{}
		head.A.B.Next = &inner
	}
	return head
}

func nested(n int) any {
	var v any
	for range n {
		v = []any{v}
	}
	return v
}

// Fields are named as Go code names them, and only what would travel is refused.
func TestFieldPaths(t *testing.T) {
	type embedded struct{ Score float64 }
	for _, c := range []struct {
		name  string
		v     any
		field string
	}{
		{"renamed", struct {
			Score float64 `json:"score"`
		}{nan}, "Score"},
		{"embedded", struct{ embedded }{embedded{nan}}, "embedded.Score"},
		{"embedded pointer", struct{ *embedded }{&embedded{nan}}, "embedded.Score"},
		{"embedded with a name", struct {
			embedded `json:"e"`
		}{embedded{nan}}, "embedded.Score"},
		{"omitempty does not omit NaN", struct {
			F float64 `json:",omitempty"`
		}{nan}, "F"},
		{"omitempty does not omit a nil channel", struct {
			C chan int `json:",omitempty"`
		}{}, "C"},
		{"omitempty as a name", struct {
			C chan int `json:"omitempty"`
		}{}, "C"},
		{"string option", struct {
			F float64 `json:",string"`
		}{nan}, "F"},
		{"a field called -", struct {
			//lint:ignore SA5008 it is a rule of encoding/json
			F float64 `json:"-,"`
		}{nan}, "F"},
		{"array", struct{ A [2][2]float64 }{[2][2]float64{{0, 0}, {0, nan}}}, "A[1][1]"},
		{"map of integers", map[int][]string{7: {"", noUTF8}}, "[7][1]"},
		{"map of structs", struct{ M map[string]embedded }{map[string]embedded{"k": {nan}}}, "M[k].Score"},
		{"key with a method", map[upper]int{upper(noUTF8): 1}, ""},
		{"long key", map[string]any{strings.Repeat("k", 100): nan}, "[" + strings.Repeat("k", 64) + "…]"},
		{"pointer to pointer", func() any { s := &noUTF8; return &s }(), ""},
		{"interface in interface", []any{any([]any{any(noUTF8)})}, "[0][0]"},
		{"deep list", list(maxDepth + 1), strings.Repeat("Next.", 205)[:512] + "…" + strings.Repeat(".Next", 205)[1025-512:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Marshal(c.v)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Field != c.field {
				t.Errorf("got %v, want the field %q", err, c.field)
			}
		})
	}
}

// What is accepted is what encoding/json writes, and it can be read again.
func TestWhatTravels(t *testing.T) {
	type embedded struct{ Score float64 }
	for name, v := range map[string]any{
		"ignored": struct {
			F float64 `json:"-"`
		}{nan},
		"unexported": struct{ f float64 }{nan},
		"embedded and not a struct": struct {
			hidden
			A int
		}{hidden(nan), 1},
		"nil embedded pointer": struct{ *embedded }{},
		"omitzero omits a nil channel": struct {
			C chan int `json:",omitzero"`
		}{},
		"omitempty omits a nil interface": struct {
			C any `json:",omitempty"`
		}{},
		"methods of pointers":    struct{ B big.Int }{*big.NewInt(12345678901234567)},
		"pointer's method alone": pointerJSON{"<x>"},
		"time":                   time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		"deep list":              list(maxDepth),
		"nil list":               []string(nil),
		"empty list":             []string{},
		"html":                   "<a href='x'>&amp;</a>",
		"shared, no cycle":       func() any { s := []int{1}; return [][]int{s, s, s[:0]} }(),
		"slice of itself":        func() any { s := make([]any, 2); s[0] = s[1:]; return s }(),
		"deep":                   nested(maxDepth),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if want := plainJSON(t, v); string(got) != want {
				t.Errorf("%s, encoding/json says %s", got, want)
			}
			var back any
			if err := Unmarshal(got, &back); err != nil {
				t.Error(err)
			}
		})
	}
}

// Whatever Check lets pass, encoding/json must be able to read, however it is nested.
func TestDepth(t *testing.T) {
	for name, v := range map[string]any{"by value": wideList(5000), "lists": nested(10_000), "large": []any{strings.Repeat("x", 2*largeSize), nested(10_000)}} {
		b, err := Marshal(v)
		if e, ok := errors.AsType[*Error](err); !ok || !strings.Contains(e.Reason, "levels") {
			t.Errorf("%s: %v, %d bytes", name, err, len(b))
		}
	}
}

func TestLargeRefused(t *testing.T) {
	long := strings.Repeat("x", 2*largeSize)
	for name, c := range map[string]struct {
		v             any
		field, reason string
	}{
		"NaN behind it":       {struct{ A, B any }{long, nan}, "B", "NaN"},
		"at its end":          {[]string{long, long + "\xff"}, "[1]", "UTF-8"},
		"marshaler":           {[]any{long, evil{}}, "", "MarshalJSON"},
		"marshaler's error":   {struct{ A, B any }{long, failing{}}, "", "no form today"},
		"json.Number":         {[]any{long, json.Number("1x")}, "", "number"},
		"json.Number, itself": {json.Number(long), "", "number"},
	} {
		_, err := Marshal(c.v)
		if e, ok := errors.AsType[*Error](err); !ok || e.Field != c.field || !strings.Contains(e.Reason, c.reason) || len(e.Reason) > 4096 {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}
