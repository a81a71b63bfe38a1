package codec

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

type tree struct {
	Name string
	Kids []*tree
	Any  any            `json:"any,omitempty"`
	Map  map[string]any `json:"map,omitempty"`
	Skip chan int       `json:"-"`
}

type evil struct{}

func (evil) MarshalJSON() ([]byte, error) { return []byte("\"a\xffb\""), nil }

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("no form today") }

func TestRefused(t *testing.T) {
	loop := &tree{Name: "loop"}
	loop.Kids = []*tree{{Kids: []*tree{loop}}}
	self := map[string]any{}
	self["x"] = self
	for _, c := range []struct {
		name   string
		v      any
		field  string
		reason string
	}{
		{"not utf-8", tree{Kids: []*tree{{Name: "ok"}, {Name: "a\xff"}}}, "Kids[1].Name", "UTF-8"},
		{"nan", tree{Any: map[string]float64{"x": math.NaN()}}, "Any[x]", "NaN"},
		{"infinity", []float64{1, math.Inf(-1)}, "[1]", "-Inf"},
		{"cycle", loop, "Kids[0].Kids[0]", "cycle"},
		{"map cycle", self, "[x]", "cycle"},
		{"channel", tree{Any: make(chan int)}, "Any", "chan int"},
		{"function", struct{ F func() }{func() {}}, "F", "func()"},
		{"complex", []any{1i}, "[0]", "complex128"},
		{"key", map[string]int{"\xff": 1}, "", "key"},
		{"marshaler", evil{}, "", "UTF-8"},
		{"marshaler error", []failing{{}}, "", "no form today"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Marshal(c.v)
			var e *Error
			if !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Reason, c.reason) {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestAccepted(t *testing.T) {
	shared := &tree{Name: "shared"}
	for _, v := range []any{
		nil, 1, "日本語\u2028<&>",
		[]byte{0xff, 0},
		tree{Skip: make(chan int)},
		[]*tree{shared, shared},
		time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		map[int]string{1: "a"},
		json.RawMessage(`{"a":1}`),
		struct {
			P *string
			E []int
		}{},
	} {
		b, err := Marshal(v)
		if err != nil {
			t.Errorf("%#v: %v", v, err)
			continue
		}
		if want, _ := json.Marshal(v); !strings.Contains(string(want), `\u003c`) && string(want)+"\n" != string(b) {
			t.Errorf("%s, encoding/json says %s", b, want)
		}
	}
}

func TestUnmarshal(t *testing.T) {
	var v tree
	for _, c := range []struct{ data, field, reason string }{
		{`{"Name": 1}`, "Name", "a JSON number where Go has string"},
		{`{"Name": "`, "", "unexpected end"},
		{"{\"Name\": \"\xff\"}", "", "UTF-8"},
		{strings.Repeat("[", 20000), "", "depth"},
	} {
		var e *Error
		if err := Unmarshal([]byte(c.data), &v); !errors.As(err, &e) || e.Field != c.field || !strings.Contains(e.Reason, c.reason) {
			t.Errorf("%.20s: %#v", c.data, err)
		}
	}
}
